import Base
import CoinLedger

/// How balances are written: the same members wherever one appears.
extension Balance {
    func write(to object: inout JSONObjectWriter) {
        object.member("paid", paid.amount)
        object.member("free", free.amount)
        object.member("total", total.amount)
        object.member("available", available.amount)
        object.member("held", held.amount)
        object.member("debt", debt.amount)
        object.nullable("nextExpiry", nextExpiry?.description)
    }

    fileprivate var members: [JSONObject.Member] {
        [
            .init("paid", .integer(paid.amount)), .init("free", .integer(free.amount)),
            .init("total", .integer(total.amount)),
            .init("available", .integer(available.amount)), .init("held", .integer(held.amount)),
            .init("debt", .integer(debt.amount)),
            .init("nextExpiry", nextExpiry.map { .string($0.description) } ?? .null),
        ]
    }
}

extension AccountBalance {
    /// The balance after a command.
    func write(to object: inout JSONObjectWriter) {
        object.member("version", version)
        production.write(to: &object)
        if sandbox != .zero { object.object("sandbox") { sandbox.write(to: &$0) } }
    }

    /// The same as a value.
    var json: JSON {
        var members: [JSONObject.Member] = [.init("version", .integer(version))]
        members += production.members
        if sandbox != .zero {
            members.append(.init("sandbox", .object(JSONObject(sandbox.members))))
        }
        return .object(JSONObject(members))
    }

    /// Another one whenever anything in the balance is: of one version, only coins whose time is over
    /// make a difference, and holds whose time is.
    var entityTag: String {
        let parts = [("p", production), ("s", sandbox)].compactMap { name, balance -> String? in
            guard balance.nextExpiry != nil || balance.held > .zero else { return nil }
            return ".\(name)\(balance.nextExpiry?.milliseconds ?? 0).\(balance.held.amount)"
        }
        return "\"\(version)\(parts.joined())\""
    }
}

extension GrantedCoins {
    /// What these members are of is the name's business.
    func write(to object: inout JSONObjectWriter) {
        object.member("paid", paid.amount)
        object.member("free", free.amount)
    }

    var json: JSON { ["paid": .integer(paid.amount), "free": .integer(free.amount)] }
}

extension StatedPrice {
    func write(to object: inout JSONObjectWriter) {
        object.member("milliunits", milliunits)
        object.member("currency", currency)
    }

    var json: JSON { ["milliunits": .integer(milliunits), "currency": .string(currency)] }
}

import Base
package import CoinLedger

/// What an account has beside its lots and few have at all: holds, what refunds have taken, and
/// whether its consent was asked for.
package struct AccountDetails: Hashable, Sendable {
    package struct PurseDetails: Hashable, Sendable {
        package let holds: [Hold]
        package let refunds: [PurchaseKey: Refund]

        package static let none = PurseDetails(holds: [], refunds: [:])

        package init(holds: [Hold], refunds: [PurchaseKey: Refund]) {
            self.holds = holds
            self.refunds = refunds
        }

        init(_ purse: Purse) { self.init(holds: purse.holds, refunds: purse.refunds) }

        var isEmpty: Bool { holds.isEmpty && refunds.isEmpty }
    }

    package let production: PurseDetails
    package let sandbox: PurseDetails
    package let consent: Bool?

    package static let none = AccountDetails(production: .none, sandbox: .none)

    package init(
        production: PurseDetails, sandbox: PurseDetails, consent: Bool? = nil
    ) {
        self.production = production
        self.sandbox = sandbox
        self.consent = consent
    }

    package init(_ account: Account) {
        self.init(
            production: PurseDetails(account.production), sandbox: PurseDetails(account.sandbox),
            consent: account.consent)
    }

    package subscript(environment: Environment) -> PurseDetails {
        switch environment {
        case .production: production
        case .sandbox: sandbox
        }
    }
}

/// Turns the details of an account into JSON, and back. They can always be made anew from the
/// events, so that this form may change with a migration.
package enum AccountDetailsCodec {
    /// Nil where there is nothing to be kept.
    package static func encode(_ details: AccountDetails) -> [UInt8]? {
        guard details != .none else { return nil }
        var object = JSONObjectWriter()
        for environment in Environment.allCases where !details[environment].isEmpty {
            switch environment {
            case .production: object.object("production") { $0.members(details.production) }
            case .sandbox: object.object("sandbox") { $0.members(details.sandbox) }
            }
        }
        if let consent = details.consent { object.member("consented", consent) }
        return object.finish()
    }

    /// - Throws: `.corrupt` if `bytes` aren't what `encode` writes.
    package static func decode(_ bytes: [UInt8]) throws(EventStoreError) -> AccountDetails {
        do throws(PayloadError) {
            let payload = try Payload(bytes)
            return AccountDetails(
                production: try purse(payload, "production", .production),
                sandbox: try purse(payload, "sandbox", .sandbox),
                consent: try payload.optional("consented", \JSON.bool))
        } catch {
            switch error {
            case .malformed(let field): throw .corrupt("details of an account: \(field)")
            }
        }
    }

    private static func purse(
        _ payload: Payload, _ name: String, _ environment: Environment
    ) throws(PayloadError) -> AccountDetails.PurseDetails {
        guard payload.has(name) else { return .none }
        let purse = try payload.payload(name)
        let holds = try purse.list("holds") { (hold) throws(PayloadError) in try hold.hold() }
        var refunds: [PurchaseKey: Refund] = [:]
        for refund in try purse.payloads("refunds") {
            let key = try refund.purchaseKey()
            guard key.environment == environment, refunds[key] == nil else {
                throw .malformed("transactionId")
            }
            refunds[key] = try refund.refund()
        }
        return AccountDetails.PurseDetails(holds: holds, refunds: refunds)
    }
}

extension JSONObjectWriter {
    fileprivate mutating func members(_ details: AccountDetails.PurseDetails) {
        objects("holds", details.holds) { hold, value in
            hold.member("id", value.id.description)
            hold.member("coins", value.coins.amount)
            hold.object("purpose") { $0.members(value.purpose) }
            hold.member("expiresAt", value.expiresAt.description)
            hold.objects("slices", value.slices) { $0.members($1) }
        }
        // Sorted, so that the same details are the same bytes.
        let refunds = details.refunds.sorted {
            ($0.key.transactionID.text, $0.key.store.rawValue)
                < ($1.key.transactionID.text, $1.key.store.rawValue)
        }
        objects("refunds", refunds) { refund, entry in
            refund.members(entry.key)
            refund.member("signedAt", entry.value.signedAt?.description)
            refund.member("percentageMilliunits", entry.value.percentage)
            refund.objects("taken", entry.value.taken) { $0.members($1) }
            refund.member("debt", entry.value.debt.amount)
            refund.member("writtenOff", entry.value.writtenOff.amount)
        }
    }
}

extension Payload {
    fileprivate func hold() throws(PayloadError) -> Hold {
        Hold(
            id: try value("id", EventID.init), coins: try coins("coins"),
            purpose: try payload("purpose").purpose(),
            expiresAt: try value("expiresAt", Timestamp.init),
            slices: try heldSlices("slices"))
    }

    fileprivate func refund() throws(PayloadError) -> Refund {
        Refund(
            signedAt: try optionalValue("signedAt", Timestamp.init),
            percentage: try percentage(), taken: try returnedSlices("taken"),
            debt: try coins("debt"), writtenOff: try coins("writtenOff"))
    }
}

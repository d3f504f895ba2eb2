/// Names a coin account: 1 to 64 of `A–Z a–z 0–9 . _ : -`, opaque, and nothing personal.
package struct AccountID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package static let lengthMax = 64

    package init?(_ text: String) {
        guard (1...AccountID.lengthMax).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isIdentifierByte || $0 == UInt8(ascii: ":") })
        else { return nil }
        self.text = text
    }

    private init(unchecked text: String) { self.text = text }

    /// Where the store's word on purchases that nobody has is remembered. No account of anybody can
    /// have this id.
    package static let unclaimed = AccountID(unchecked: "*")

    /// Reads an id as it was stored: that of an account, or `unclaimed`.
    package init?(stored text: String) {
        if text == AccountID.unclaimed.text {
            self = .unclaimed
        } else {
            self.init(text)
        }
    }

    package var description: String { text }
}

/// The store's name of a transaction: 1 to 64 of `A–Z a–z 0–9 . _ -`. Always text, never a number.
package struct TransactionID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package static let lengthMax = 64

    package init?(_ text: String) {
        guard (1...TransactionID.lengthMax).contains(text.utf8.count),
            text.utf8.allSatisfy(\.isIdentifierByte)
        else { return nil }
        self.text = text
    }

    package var description: String { text }
}

/// The UUID an app gave the store for its account, in lower case.
package struct AppAccountToken: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// Reads 8-4-4-4-12 hexadecimal digits of either case.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return nil }
        var lower: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            switch (index, byte) {
            case (8, UInt8(ascii: "-")), (13, UInt8(ascii: "-")), (18, UInt8(ascii: "-")),
                (23, UInt8(ascii: "-")):
                lower.append(byte)
            case (8, _), (13, _), (18, _), (23, _): return nil
            case (_, UInt8(ascii: "0")...UInt8(ascii: "9")),
                (_, UInt8(ascii: "a")...UInt8(ascii: "f")):
                lower.append(byte)
            case (_, UInt8(ascii: "A")...UInt8(ascii: "F")): lower.append(byte + 32)
            default: return nil
            }
        }
        self.text = String(decoding: lower, as: UTF8.self)
    }

    package var description: String { text }
}

/// Names a lot of any account.
package struct LotID: Hashable, Sendable {
    package let account: AccountID
    package let number: Int64

    package init(account: AccountID, number: Int64) {
        self.account = account
        self.number = number
    }
}

/// Names one execution of a command: 128 random bits, made once and kept over its retries.
package struct CommandID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

extension UInt8 {
    fileprivate var isIdentifierByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

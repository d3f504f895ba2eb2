/// A part of the log with one sequence of positions; an account belongs to one lane for ever.
package struct Lane: Hashable, Sendable, Comparable {
    package let number: Int64

    package init?(_ number: Int64) {
        guard (0..<Lane.countMax).contains(number) else { return nil }
        self.number = number
    }

    /// How many lanes a ledger may be created with.
    package static let countMax: Int64 = 1024

    /// The lane of `account` in a ledger of `count` lanes: FNV-1a of its text, modulo `count`.
    ///
    /// The function is part of the ledger's format: every event ever written depends on it.
    package static func of(_ account: AccountID, count: Int64) -> Lane {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in account.text.utf8 {
            hash ^= UInt64(byte)
            hash = hash &* 0x100_0000_01B3
        }
        // The low bits of FNV-1a mix least; fold the high half into them.
        return Lane(unchecked: Int64((hash ^ hash >> 32) % UInt64(max(1, count))))
    }

    private init(unchecked number: Int64) { self.number = number }

    package static func < (left: Lane, right: Lane) -> Bool { left.number < right.number }
}

/// Names an event: its lane and its position there, written `lane-position`.
///
/// Positions are 1, 2, 3 … without a gap, in the order in which they were committed.
package struct EventID: Hashable, Sendable, CustomStringConvertible {
    package let lane: Lane
    package let position: Int64

    package init(lane: Lane, position: Int64) {
        self.lane = lane
        self.position = position
    }

    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int64(parts[0]), let lane = Lane(number),
            let position = Int64(parts[1]), position > 0
        else { return nil }
        self.init(lane: lane, position: position)
        guard description == text else { return nil }
    }

    package var description: String { "\(lane.number)-\(position)" }
}

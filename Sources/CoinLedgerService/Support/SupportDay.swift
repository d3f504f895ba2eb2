package import CoinLedger

/// A day as a customer names it, with the days beside it: people are wrong about midnights, and
/// stores about zones.
package struct SupportDay: Hashable, Sendable {
    /// From the start of the day before until the end of the day after.
    package let from: Timestamp
    package let until: Timestamp

    /// - Parameter text: such as `2026-11-30`.
    package init?(_ text: String, in zone: ZoneRules) {
        guard text.utf8.count == 10, let midnight = Timestamp("\(text)T00:00:00Z") else {
            return nil
        }
        let day = midnight.milliseconds / 86_400_000
        guard midnight.milliseconds >= 0, let from = zone.midnight(ofDay: day - 1),
            let until = zone.midnight(ofDay: day + 2)
        else { return nil }
        self.from = from
        self.until = until
    }
}

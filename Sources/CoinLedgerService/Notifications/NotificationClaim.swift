import AppStore
import Base
package import CoinLedger

/// What a signed notification says of itself, whether or not it's believed: to order it and to show
/// it to a person. Its texts are bounded and printable.
package struct NotificationClaim: Hashable, Sendable {
    package let uuid: String
    package let type: String
    package let signedAt: Timestamp

    /// Nil if it can't be read.
    package init?(signedPayload: String) {
        let segments = signedPayload.split(separator: ".", omittingEmptySubsequences: false)
        guard segments.count == 3, let payload = Base64.decode(String(segments[1]), .url),
            let notification = try? StoreNotification(signedPayload: payload),
            let signedAt = Timestamp(milliseconds: notification.signedDate)
        else { return nil }
        uuid = notification.uuid
        type = notification.type
        self.signedAt = signedAt
    }
}

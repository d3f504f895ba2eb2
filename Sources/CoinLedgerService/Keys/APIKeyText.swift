import AppStore
import Base
package import CoinLedger
package import EventStore

/// The text of a key: `clk_`, its id, and a secret of 256 random bits.
package struct APIKeyText: Sendable {
    let id: String
    private let secret: [UInt8]

    /// Short enough for a `String` without an allocation.
    package static let idLength = 12
    private static let prefix = Array("clk_".utf8)
    private static let lengthMax = 128

    /// Nil if `text` can't be a key; says nothing of whether there is such a key.
    init?(_ text: ArraySlice<UInt8>) {
        guard text.count <= APIKeyText.lengthMax, text.starts(with: APIKeyText.prefix) else {
            return nil
        }
        let rest = text.dropFirst(APIKeyText.prefix.count)
        let id = rest.prefix(APIKeyText.idLength)
        let secret = rest.dropFirst(APIKeyText.idLength)
        guard secret.first == UInt8(ascii: "_") else { return nil }
        self.id = String(decoding: id, as: UTF8.self)
        self.secret = Array(secret.dropFirst())
    }

    /// Whether this is the text of `key`, in a time that doesn't depend on where they differ.
    func matches(_ key: APIKey) -> Bool {
        let digest = Digest.sha256(secret)
        guard digest.count == key.secretSHA256.count else { return false }
        var difference: UInt8 = 0
        for (left, right) in zip(digest, key.secretSHA256) { difference |= left ^ right }
        return difference == 0
    }

    /// Makes a new key: what is kept of it, and its text, which is shown once.
    package static func make(
        name: String, scopes: [APIScope], at time: Timestamp
    ) -> (key: APIKey, text: String) {
        var random = SystemRandomNumberGenerator()
        func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in .random(in: .min ... .max, using: &random) }
        }
        let id = Hex.encode(bytes(idLength / 2))
        let secret = Hex.encode(bytes(32))
        let key = APIKey(
            id: id, name: name, scopes: scopes.map(\.rawValue),
            secretSHA256: Digest.sha256(Array(secret.utf8)), createdAt: time)
        return (key, "\(String(decoding: prefix, as: UTF8.self))\(id)_\(secret)")
    }
}

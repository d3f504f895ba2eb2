import AppStore
import Base

/// One call, before it's known where and with which token it's sent.
struct AppStoreServerRequest: Sendable {
    let endpoint: AppStoreServerEndpoint
    let environment: StoreEnvironment
    let method: String
    /// From its slash on, with the query.
    let target: String
    let body: JSON?

    init(
        _ endpoint: AppStoreServerEndpoint, _ environment: StoreEnvironment, _ target: String,
        method: String = "GET", body: JSON? = nil
    ) {
        self.endpoint = endpoint
        self.environment = environment
        self.method = method
        self.target = target
        self.body = body
    }

    /// No id of the store's is longer.
    private static let identifierBytesMax = 256

    /// An id as a segment of a path, if it can be one: it mustn't lead anywhere else.
    static func segment(_ id: String) throws(AppStoreServerError) -> String {
        let isValid =
            (1...identifierBytesMax).contains(id.utf8.count) && id != "." && id != ".."
            && id.utf8.allSatisfy(isUnreserved)
        guard isValid else {
            throw .refused(status: 400, code: nil, message: "this can't be an id")
        }
        return id
    }

    /// A query, with its question mark; empty without parameters.
    static func query(_ parameters: [(name: String, value: String)]) -> String {
        let pairs = parameters.map { "\($0.name)=\(escaped($0.value))" }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }

    /// RFC 3986, section 2.1.
    private static func escaped(_ text: String) -> String {
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                escaped.append(byte)
            } else {
                escaped += [UInt8(ascii: "%")] + Hex.encode([byte]).uppercased().utf8
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// RFC 3986, section 2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

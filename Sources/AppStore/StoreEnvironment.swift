/// The world a transaction was made in; only in one of them was money paid.
package enum StoreEnvironment: Hashable, Sendable {
    case production
    case sandbox
    /// A purchase in Xcode: signed by nobody.
    case xcode
    /// A purchase in a local StoreKit test: signed by nobody.
    case localTesting
    /// One that didn't exist when this was written, as Apple spells it.
    case other(String)

    /// Reads Apple's spelling, such as `Production`.
    package init(_ text: String) {
        switch text {
        case "Production": self = .production
        case "Sandbox": self = .sandbox
        case "Xcode": self = .xcode
        case "LocalTesting": self = .localTesting
        default: self = .other(text)
        }
    }

    /// Apple's spelling.
    package var text: String {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox"
        case .xcode: "Xcode"
        case .localTesting: "LocalTesting"
        case .other(let text): text
        }
    }
}

/// An address and port to listen on: `127.0.0.1:8080`, `[::1]:8080`; port 0 takes any free one.
struct ListenAddress: Sendable {
    let address: String
    let port: UInt16

    init(_ settings: Settings, _ option: Option) throws(UsageError) {
        let text = try settings.required(option)
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { throw UsageError("\(option.name): \(text) isn't ADDRESS:PORT") }
        var address = text[..<colon]
        if address.hasPrefix("["), address.hasSuffix("]") {
            address = address.dropFirst().dropLast()
        }
        guard !address.isEmpty else { throw UsageError("\(option.name): the address is missing") }
        self.address = String(address)
        self.port = port
    }

    /// The URL under which a server on `port` of this address is reached.
    func url(port: UInt16) -> String {
        address.contains(":") ? "http://[\(address)]:\(port)" : "http://\(address):\(port)"
    }
}

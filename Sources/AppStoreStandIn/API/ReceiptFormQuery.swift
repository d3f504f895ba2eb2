extension ReceiptForm {
    /// The query parameters that say what is unusual about a receipt.
    static let parameters: Set<String> = [
        "digest", "openLengths", "signedAttributes", "oldCertificates", "wrappings", "originals",
        "copies", "productType", "cancelledAt", "type", "createdAt", "leafValidFrom",
        "leafValidUntil", "fault",
    ]

    private static let copiesMax: Int64 = 100
    private static let wrappingsMax: Int64 = 10
    /// The year 9999 in milliseconds.
    private static let instants: ClosedRange<Int64> = 0...253_402_300_799_999

    init(_ query: QueryFields) throws(RequestError) {
        self.init()
        if query["fault"] == "xcode" { self = .xcode }
        if let name = query["fault"] {
            guard let fault = ReceiptFault(name) else {
                throw .invalid("There's no fault \(name).")
            }
            self.fault = fault
        }
        if let name = query["digest"] {
            guard let digest = RSASigningKey.Digest(rawValue: name) else {
                throw .invalid("digest must be sha1 or sha256.")
            }
            style.digest = digest
        }
        style.hasOpenLengths = try query.flag("openLengths") ?? style.hasOpenLengths
        style.hasSignedAttributes = try query.flag("signedAttributes") ?? false
        hasOldCertificates = try query.flag("oldCertificates") ?? false
        hasOriginals = try query.flag("originals") ?? hasOriginals
        wrappings = Int(try query.integer("wrappings", 0...ReceiptForm.wrappingsMax) ?? 0)
        copies = Int(try query.integer("copies", 1...ReceiptForm.copiesMax) ?? 1)
        productType = try query.integer("productType", 0...100) ?? productType
        cancelledAt = try query.integer("cancelledAt", ReceiptForm.instants)
        type = query["type"] ?? type
        createdAt = try query.integer("createdAt", ReceiptForm.instants)
        let from = try query.integer("leafValidFrom", ReceiptForm.instants)
        let until = try query.integer("leafValidUntil", ReceiptForm.instants)
        if let from, let until, from < until { leafValidity = (from / 1000)..<(until / 1000) }
    }
}

extension QueryFields {
    fileprivate func flag(_ name: String) throws(RequestError) -> Bool? {
        switch self[name] {
        case nil: nil
        case "true": true
        case "false": false
        default: throw .invalid("\(name) must be true or false.")
        }
    }

    fileprivate func integer(
        _ name: String, _ range: ClosedRange<Int64>
    ) throws(RequestError) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let value = Int64(text), range.contains(value) else {
            throw .invalid("\(name) must be a whole number in its bounds.")
        }
        return value
    }
}

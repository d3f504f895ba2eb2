/// What is unusual about an app receipt of the stand-in. What isn't said is as in a genuine one.
package struct ReceiptForm: Sendable {
    package var style = ReceiptSigner.Style()
    /// Certificates of the time before 2023, which are signed with SHA-1.
    package var hasOldCertificates = false
    /// How often the payload is wrapped in an octet string that nobody needs.
    package var wrappings = 0
    /// Whether purchases name their original id and date; Xcode's don't.
    package var hasOriginals = true
    /// How often each purchase is in it.
    package var copies = 1
    /// Attribute 1707; nil leaves it out.
    package var productType: Int64? = 1
    /// Attribute 1712 of every purchase, in milliseconds since 1970.
    package var cancelledAt: Int64?
    /// Attribute 0; by the environment if nil.
    package var type: String?
    /// Attribute 12 in milliseconds since 1970; now if nil.
    package var createdAt: Int64?
    /// When the signer's certificate is valid, in seconds since 1970.
    package var leafValidity: Range<Int64>?
    package var fault: ReceiptFault?

    package init() {}

    /// As Xcode's local test store makes them.
    package static var xcode: ReceiptForm {
        var form = ReceiptForm()
        form.style.hasOpenLengths = true
        form.hasOriginals = false
        form.productType = nil
        form.type = "Xcode"
        form.fault = .signedByXcode
        return form
    }
}

/// What can be wrong with an app receipt.
package enum ReceiptFault: Hashable, Sendable {
    /// Signed with a key that isn't the certificate's.
    case wrongSignature
    /// By a certificate that vouches for itself.
    case signedByXcode
    case chain(ChainFault)

    /// The name in requests, or nil if there's no such fault.
    package init?(_ name: String) {
        switch name {
        case "wrong_signature": self = .wrongSignature
        case "xcode": self = .signedByXcode
        default:
            guard let fault = ChainFault(rawValue: name) else { return nil }
            self = .chain(fault)
        }
    }
}

extension ReceiptAuthority {
    /// Who signs a receipt of this form.
    func signer(of form: ReceiptForm) -> ReceiptSigner {
        switch form.fault {
        case nil: break
        case .wrongSignature:
            var signer = signer
            signer.key = .foreign
            return signer
        case .signedByXcode: return xcodeSigner
        case .chain(let fault): return signer(with: fault)
        }
        if let validity = form.leafValidity { return signer(leafValidity: validity) }
        return form.hasOldCertificates ? oldSigner : signer
    }
}

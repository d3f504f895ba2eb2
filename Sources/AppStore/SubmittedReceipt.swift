import Base

/// What an app sent as proof of a purchase, told apart by its shape alone; nothing is verified.
package enum SubmittedReceipt: Hashable, Sendable {
    /// A transaction signed by the App Store: three base64url segments with dots between.
    case signedTransaction(String)
    /// The app receipt in standard base64, without line breaks. Its first byte is 0x30.
    case appReceipt(base64: String)

    /// A genuine app receipt with 187 purchases has 105,472 characters.
    package static let bytesMax = 2 << 20

    /// - Throws: `ReceiptShapeError` naming what was found instead.
    package static func detect(_ text: String) throws(ReceiptShapeError) -> SubmittedReceipt {
        guard text.utf8.count <= bytesMax else { throw .tooLarge }
        var text = text
        if text.withUTF8({ unsafe isSignedTransaction($0) }) { return .signedTransaction(text) }
        let bytes = trimmed(Array(text.utf8))
        guard let first = bytes.first else { throw .empty }
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): throw ReceiptShapeError(structured: bytes)
        case UInt8(ascii: "\""): throw .quoted
        case UInt8(ascii: "<"):
            throw bytes.starts(with: "<?xml".utf8) || bytes.starts(with: "<plist".utf8)
                ? .propertyList : .markup
        default: break
        }
        if bytes.contains(UInt8(ascii: "%")) { throw .percentEncoded }
        if bytes.contains(UInt8(ascii: ".")) { return try signedTransaction(bytes) }
        return try appReceipt(bytes)
    }

    private static func signedTransaction(
        _ bytes: [UInt8]
    ) throws(ReceiptShapeError) -> SubmittedReceipt {
        guard unsafe bytes.withUnsafeBufferPointer({ unsafe isSignedTransaction($0) }) else {
            throw .notASignedTransaction
        }
        return .signedTransaction(String(decoding: bytes, as: UTF8.self))
    }

    /// Whether these are three segments of base64url digits, none of them empty or of a length
    /// that encodes nothing. That each is right is seen when it's decoded.
    private static func isSignedTransaction(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var start = 0
        for _ in 0..<2 {
            guard let dot = unsafe bytes.firstIndex(of: UInt8(ascii: "."), from: start),
                unsafe isSegment(bytes, start..<dot)
            else { return false }
            start = dot + 1
        }
        return unsafe isSegment(bytes, start..<bytes.count)
    }

    private static func isSegment(
        _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>
    ) -> Bool {
        guard !range.isEmpty, range.count % 4 != 1 else { return false }
        return unsafe Base64.areURLDigits(UnsafeBufferPointer(rebasing: bytes[range]))
    }

    private static func appReceipt(
        _ bytes: [UInt8]
    ) throws(ReceiptShapeError) -> SubmittedReceipt {
        if bytes.count <= StoreFieldLimits.identifierBytesMax, bytes.allSatisfy(isDigit) {
            throw .transactionID
        }
        // Many encoders break base64 into lines.
        let text = bytes.filter { $0 != 0x0D && $0 != 0x0A }
        // No receipt in base64 begins so, but every one in hexadecimal.
        if text.starts(with: "30".utf8), Hex.decode(String(decoding: text, as: UTF8.self)) != nil {
            throw .hexadecimal
        }
        guard let decoded = Base64.decode(text) else {
            throw ReceiptShapeError(notBase64: text)
        }
        guard decoded.first == derSequence else {
            throw ReceiptShapeError(decoded: decoded)
        }
        return .appReceipt(base64: String(decoding: text, as: UTF8.self))
    }

    /// The tag that every PKCS #7 container begins with.
    private static let derSequence: UInt8 = 0x30

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        let start = bytes.firstIndex { !isSpace($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !isSpace($0) } ?? start
        return start == bytes.endIndex ? [] : Array(bytes[start...end])
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

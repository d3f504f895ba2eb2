import Base

/// What was sent instead of a receipt.
package enum ReceiptShapeError: Error, Hashable, CaseIterable {
    case empty
    case tooLarge
    /// The answer of verifyReceipt, fetched by the app: a word of the phone, not of the store.
    case verificationResult
    case json
    case propertyList
    case oldReceipt
    case markup
    case quoted
    case percentEncoded
    case transactionID
    case notASignedTransaction
    case blanksInBase64
    case urlBase64
    case notBase64
    case hexadecimal
    case doubleBase64
    case notAReceipt

    /// Stable, for programs.
    package var code: String {
        switch self {
        case .empty: "receipt_empty"
        case .tooLarge: "receipt_too_large"
        case .verificationResult: "receipt_is_verification_result"
        case .json: "receipt_is_json"
        case .propertyList: "receipt_is_property_list"
        case .oldReceipt: "receipt_is_old_property_list"
        case .markup: "receipt_is_markup"
        case .quoted: "receipt_is_quoted"
        case .percentEncoded: "receipt_is_percent_encoded"
        case .transactionID: "receipt_is_transaction_id"
        case .notASignedTransaction: "receipt_is_not_a_signed_transaction"
        case .blanksInBase64: "receipt_has_blanks"
        case .urlBase64: "receipt_is_base64url"
        case .notBase64: "receipt_is_not_base64"
        case .hexadecimal: "receipt_is_hexadecimal"
        case .doubleBase64: "receipt_is_base64_twice"
        case .notAReceipt: "receipt_is_something_else"
        }
    }

    /// One sentence, for people.
    package var message: String {
        switch self {
        case .empty: "The receipt is empty."
        case .tooLarge: "The receipt is larger than any receipt may be."
        case .verificationResult:
            "This is an answer of verifyReceipt; send the receipt itself, since a result made on "
                + "the device proves nothing."
        case .json: "This is JSON; send the signed transaction or the app receipt as it is."
        case .propertyList: "This is a property list; send the app receipt in base64."
        case .oldReceipt:
            "This is a transaction receipt of the time before iOS 7; send the app receipt."
        case .markup: "This is markup or a printed description; send the app receipt in base64."
        case .quoted: "The receipt stands in quotation marks; it was encoded once too often."
        case .percentEncoded: "The receipt is percent-encoded; send it as it is."
        case .transactionID:
            "This is a transaction id; send the signed transaction or the app receipt."
        case .notASignedTransaction:
            "There are dots in it, but this isn't a signed transaction of three base64url segments."
        case .blanksInBase64:
            "There are blanks where plus signs were; a form decoder has changed the receipt."
        case .urlBase64: "This is base64url; send the app receipt in standard base64."
        case .notBase64: "This is neither a signed transaction nor base64, or it was cut off."
        case .hexadecimal: "The receipt is hexadecimal; send it in base64."
        case .doubleBase64: "The receipt was encoded in base64 twice."
        case .notAReceipt: "This is base64, but not of an app receipt."
        }
    }

    /// Names a text that begins like JSON or an old property list.
    init(structured bytes: [UInt8]) {
        if let value = try? JSON.parse(bytes) {
            self = value["status"] != nil ? .verificationResult : .json
        } else if ReceiptShapeError.isOldPropertyList(bytes) {
            self = .oldReceipt
        } else {
            self = .json
        }
    }

    /// Names a text that has no dots and isn't standard base64.
    init(notBase64 text: [UInt8]) {
        // Both have lost or changed what only the right alphabet keeps, so each is put back to
        // see whether nothing else is wrong.
        func reads(_ from: UInt8, _ to: UInt8) -> Bool {
            text.contains(from)
                && Base64.decode(text.map { $0 == from ? to : $0 }) != nil
        }
        if reads(UInt8(ascii: " "), UInt8(ascii: "+")) {
            self = .blanksInBase64
        } else if text.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }),
            Base64.decode(text.filter { $0 != UInt8(ascii: "=") }, .url) != nil
        {
            self = .urlBase64
        } else {
            self = .notBase64
        }
    }

    /// Names what is inside a base64 text, if it isn't an app receipt.
    init(decoded: [UInt8]) {
        if decoded.first == UInt8(ascii: "{") {
            self = ReceiptShapeError(structured: decoded)
        } else if decoded.starts(with: "<?xml".utf8) || decoded.starts(with: "bplist".utf8) {
            self = .propertyList
        } else if ReceiptShapeError.isEncodedReceipt(decoded) {
            self = .doubleBase64
        } else {
            self = .notAReceipt
        }
    }

    private static func isOldPropertyList(_ bytes: [UInt8]) -> Bool {
        let head = String(decoding: bytes.prefix(4096), as: UTF8.self)
        return head.contains("\"purchase-info\"") || head.contains("\"signature\"")
    }

    /// Base64 of something DER, or a signed transaction.
    private static func isEncodedReceipt(_ bytes: [UInt8]) -> Bool {
        let text = bytes.filter { $0 != 0x0D && $0 != 0x0A }
        return bytes.starts(with: "eyJ".utf8)
            || Base64.decode(text)?.first == 0x30
    }
}

import AppStoreConnection
import CoinLedgerService

/// How app receipts and certificates are judged, as `coinledger serve` is told.
enum ReceiptOptions {
    static let mode = Option(
        "receipt-verification", "MODE", variable: "COINLEDGER_RECEIPT_VERIFICATION",
        fallback: ReceiptVerification.Mode.offline.rawValue,
        help: "How app receipts are verified: offline (by their signature, which needs the root "
            + "that signs them), remote (by asking the store), or offline-then-remote (asking only "
            + "about what can't be judged here).")
    static let ocsp = Option(
        "ocsp", "MODE", variable: "COINLEDGER_OCSP",
        fallback: RevocationConfiguration.Mode.off.rawValue,
        help: "Whether Apple is asked if it has revoked a signing certificate: off, soft (what "
            + "can't be found out is taken for good), or hard (it's answered 503, to be tried "
            + "again).")
    static let ocspURL = Option(
        "ocsp-url", "URL", variable: "COINLEDGER_OCSP_URL",
        help: "Where that is asked, in place of what the certificates name.")

    static func mode(_ settings: Settings) throws(UsageError) -> ReceiptVerification.Mode {
        try choice(settings, mode)
    }

    static func revocation(_ settings: Settings) throws(UsageError) -> RevocationConfiguration {
        let isGiven = settings.optional(ocspURL) != nil
        return RevocationConfiguration(
            mode: try choice(settings, ocsp),
            url: isGiven ? try ServiceOptions.url(settings, ocspURL) : nil)
    }

    /// One of the words that a value may be.
    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ settings: Settings, _ option: Option
    ) throws(UsageError) -> Choice {
        let text = try settings.required(option)
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("\(option.name): \(text) is none of \(words)")
        }
        return choice
    }
}

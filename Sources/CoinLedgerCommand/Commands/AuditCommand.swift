import CoinLedgerService
import PostgresEventStore
import Telemetry

/// `coinledger audit`
enum AuditCommand {
    static let subcommand = Subcommand(
        "audit", summary: "Folds every event anew and compares it with what is kept beside.",
        discussion: """
            Prints a line for each deviation and exits with 1 if there are any. The ledger may be in
            use meanwhile.
            """,
        options: [DatabaseOptions.url]
    ) { settings in
        let report = try DatabaseOptions.withStore(settings) { store, _ in
            try await Audit(store: store).run()
        }
        for finding in report.findings { Output.print(finding + "\n") }
        Output.print(
            "\(report.events) events, \(report.accounts) accounts, \(report.lots) lots, "
                + "\(report.findingCount) findings\n")
        return report.findingCount == 0 ? 0 : 1
    }
}

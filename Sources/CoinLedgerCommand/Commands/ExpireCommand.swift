import CoinLedger
import CoinLedgerService
import Telemetry

/// `coinledger expire`
enum ExpireCommand {
    static let subcommand = Subcommand(
        "expire", summary: "Records which coins have expired.",
        discussion: """
            A running service does so by itself every minute. Coins whose time is over can't be spent
            whether or not it's recorded.
            """,
        options: [DatabaseOptions.url]
    ) { settings in
        let report = try DatabaseOptions.withStore(settings) { store, loop in
            let ledger = RunningService.ledger(store, Metrics(), .none, loop)
            return try await ExpiryRecorder(ledger: ledger, clock: SystemClock.now, log: .none)
                .run()
        }
        Output.print(
            "\(report.coins.amount) coins of \(report.lots) lots in \(report.accounts) accounts "
                + "have expired\n")
        return 0
    }
}

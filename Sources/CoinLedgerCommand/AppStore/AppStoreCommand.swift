import AppStoreConnection

/// `coinledger app-store`
enum AppStoreCommand {
    static let since = Option(
        "since", "INSTANT",
        help: "From when on notifications are asked for: RFC 3339 with an offset, such as "
            + "2026-11-26T00:00:00Z. The store keeps those of 180 days, in the sandbox of 30.")
    static let until = Option(
        "until", "INSTANT", help: "Up to when; now, unless given.")
    static let all = Option(
        "all", help: "Asks for what was delivered, too, and not only for what wasn't.")
    static let environment = Option(
        "environment", "NAME", variable: "COINLEDGER_APP_STORE_ENVIRONMENT",
        fallback: "production", help: "Which of the stores is asked: production or sandbox.")
    static let wait = Option(
        "wait", "SECONDS", fallback: "60",
        help: "How long a test notification may take; in the sandbox the store can only be asked "
            + "every 12 seconds.")

    /// EX_TEMPFAIL of sysexits.h: the same command may succeed later.
    static let laterStatus: Int32 = 75

    static let subcommand = Subcommand(
        "app-store",
        usage: "catch-up --since INSTANT | test-notification | transaction ID",
        summary: "Asks the App Store what it has sent, or knows.",
        discussion: """
            catch-up takes in the notifications that the store couldn't deliver, oldest first, through
            the same queue as those that come by themselves; a running service then works on them. It
            prints a line for each. Doing it again changes nothing. If it can't go on it says where
            to, and exits with 75; with 1 if something isn't believed.

            test-notification has the store send a notification and follows it through the whole way:
            the store's attempt, this ledger's queue, the service's work. It exits with 0 only if
            everything is well, and says what isn't.

            transaction prints what the store has signed about a transaction now, verified; production
            is asked first, then the sandbox.

            All need the key of the App Store Server API.
            """,
        options: [
            DatabaseOptions.url, since, until, all, environment, wait, ServiceOptions.catalogue,
            ServiceOptions.roots, ServiceOptions.allowPrivateRoot, ServiceOptions.appIDs,
            ReceiptOptions.ocsp, ReceiptOptions.ocspURL,
        ] + AppStoreServerOptions.all,
        wordCountMax: 2
    ) { settings in
        switch (settings.words.first, settings.words.count) {
        case ("catch-up", 1): return try CatchUpAction.run(settings)
        case ("test-notification", 1): return try TestNotificationAction.run(settings)
        case ("transaction", 2): return try TransactionAction.run(settings)
        case ("transaction", _): throw UsageError("transaction needs the id of one")
        case ("catch-up"?, _), ("test-notification"?, _):
            throw UsageError("\(settings.words[1]) is one word too many")
        case (let word?, _):
            throw UsageError("\(word) is neither catch-up, test-notification nor transaction")
        case (nil, _): throw UsageError("say catch-up, test-notification or transaction")
        }
    }
}

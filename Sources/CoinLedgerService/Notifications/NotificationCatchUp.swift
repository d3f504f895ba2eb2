import AppStore
package import AppStoreConnection
package import CoinLedger

/// Takes in what the store has sent while nobody was there to take it: asks for the notifications of
/// a time that has passed and has them kept like those that come by themselves, oldest first.
///
/// Doing it again, or while the service takes in others, changes nothing: each is kept once.
package struct NotificationCatchUp: Sendable {
    package typealias Fetch =
        @Sendable (NotificationHistoryQuery, _ page: String?) async throws(AppStoreServerError)
        -> NotificationPage
    package typealias Accept =
        @Sendable (_ signedPayload: String) async throws(NotificationIntake.Failure)
        -> NotificationIntake.Result

    private let fetch: Fetch
    private let accept: Accept
    private let sleep: @Sendable (_ milliseconds: Int64) async -> Void

    /// The store doesn't promise an order, so the notifications of a span of time are sorted here:
    /// at most of so long a span, and so many.
    package static let spanMillisecondsMax: Int64 = 86_400_000
    package static let sortedMax = 2000
    /// Of a span so short they are taken in as they come, however many.
    package static let spanMillisecondsMin: Int64 = 1000
    /// A store that names a next page for ever is unwell.
    package static let pagesMax = 10_000
    /// How often one is tried to be kept, with a pause between.
    package static let acceptAttemptsMax = 5
    package static let acceptPauseMilliseconds: Int64 = 1000

    package init(
        fetch: @escaping Fetch, accept: @escaping Accept,
        sleep: @escaping @Sendable (_ milliseconds: Int64) async -> Void
    ) {
        self.fetch = fetch
        self.accept = accept
        self.sleep = sleep
    }

    /// What has become of one of them.
    package enum Outcome: Hashable, Sendable {
        case taken(NotificationIntake.Result)
        case untrusted(code: String)
    }

    package struct Item: Hashable, Sendable {
        /// Nil if it can't be read.
        package let claim: NotificationClaim?
        package let sendAttempts: [DeliveryAttempt]
        package let outcome: Outcome
    }

    package struct Totals: Hashable, Sendable {
        package private(set) var accepted = 0
        package private(set) var duplicate = 0
        package private(set) var ignored = 0
        package private(set) var untrusted = 0

        mutating func count(_ outcome: Outcome) {
            switch outcome {
            case .taken(.accepted): accepted += 1
            case .taken(.duplicate): duplicate += 1
            case .taken(.ignored): ignored += 1
            case .untrusted: untrusted += 1
            }
        }
    }

    /// Why it ended early, and where to go on.
    package struct Stopped: Error, Hashable {
        package enum Reason: Error, Hashable {
            case store(AppStoreServerError)
            /// The ledger takes no writes now, or too many.
            case ledger
            /// Nobody says whether a certificate was revoked, and it has to be known.
            case revocationUnknown
        }

        package let reason: Reason
        /// Whatever was signed before is taken in, and some of what was signed later.
        package let resumeAt: Timestamp
        package let totals: Totals
    }

    /// Takes in what was signed from `since` to `until`.
    ///
    /// - Parameters:
    ///   - onlyFailures: what was delivered isn't asked for.
    ///   - report: is told of each.
    package func run(
        since: Timestamp, until: Timestamp, onlyFailures: Bool,
        report: @Sendable (Item) async -> Void
    ) async throws(Stopped) -> Totals {
        var run = CatchUpRun(totals: Totals(), resumeAt: since)
        var span = NotificationCatchUp.spanMillisecondsMax
        do throws(Stopped.Reason) {
            while run.resumeAt < until {
                let end = min(run.resumeAt.adding(span), until)
                let query = NotificationHistoryQuery(
                    startDate: run.resumeAt.milliseconds, endDate: end.milliseconds,
                    onlyFailures: onlyFailures)
                if try await take(query, &run, report) {
                    // From the same instant on: more may have been signed in its millisecond.
                    run.resumeAt = end
                    span = min(span * 2, NotificationCatchUp.spanMillisecondsMax)
                } else {
                    span = max(span / 4, NotificationCatchUp.spanMillisecondsMin)
                }
            }
        } catch {
            throw Stopped(reason: error, resumeAt: run.resumeAt, totals: run.totals)
        }
        return run.totals
    }

    private struct CatchUpRun {
        var totals: Totals
        var resumeAt: Timestamp
    }

    /// Takes in a span of time; false, and nothing is taken in, if it has too many to sort.
    private func take(
        _ query: NotificationHistoryQuery, _ run: inout CatchUpRun,
        _ report: @Sendable (Item) async -> Void
    ) async throws(Stopped.Reason) -> Bool {
        let canBeShorter =
            query.endDate - query.startDate > NotificationCatchUp.spanMillisecondsMin
        var found: [NotificationRecord] = []
        var page: String?
        for _ in 0..<NotificationCatchUp.pagesMax {
            let fetched: NotificationPage
            do throws(AppStoreServerError) {
                fetched = try await fetch(query, page)
            } catch {
                throw .store(error)
            }
            found += fetched.notifications
            if found.count > NotificationCatchUp.sortedMax {
                if canBeShorter { return false }
                try await takeIn(found, &run.totals, report)
                found = []
            }
            guard let next = fetched.next else {
                try await takeIn(found, &run.totals, report)
                return true
            }
            page = next
        }
        throw .store(.wrongShape(field: "paginationToken"))
    }

    private func takeIn(
        _ found: [NotificationRecord], _ totals: inout Totals,
        _ report: @Sendable (Item) async -> Void
    ) async throws(Stopped.Reason) {
        let read = found.map { (claim: NotificationClaim(signedPayload: $0.signedPayload), $0) }
        let sorted = read.sorted {
            ($0.claim?.signedAt ?? .earliest) < ($1.claim?.signedAt ?? .earliest)
        }
        for (claim, record) in sorted {
            let outcome = try await keep(record.signedPayload)
            totals.count(outcome)
            await report(
                Item(claim: claim, sendAttempts: record.sendAttempts, outcome: outcome))
        }
    }

    private func keep(_ signedPayload: String) async throws(Stopped.Reason) -> Outcome {
        var reason = Stopped.Reason.ledger
        for attempt in 1...NotificationCatchUp.acceptAttemptsMax {
            do throws(NotificationIntake.Failure) {
                return .taken(try await accept(signedPayload))
            } catch {
                switch error {
                case .untrusted(let error): return .untrusted(code: error.code)
                case .overloaded, .unavailable: reason = .ledger
                case .revocationUnknown: reason = .revocationUnknown
                }
            }
            if attempt < NotificationCatchUp.acceptAttemptsMax {
                await sleep(NotificationCatchUp.acceptPauseMilliseconds)
            }
        }
        throw reason
    }
}

import CoinLedger
import LedgerTestSupport
import Testing

/// The story of one account: what has happened to it, what is wished, what comes of that.
struct Story {
    private let history: History
    var facts = Facts()

    init(_ events: [Event]) {
        var history = History()
        for event in events { history.append(event) }
        self.history = history
    }

    func knowing(_ claims: [PurchaseKey: PurchaseClaim]) -> Story {
        var story = self
        story.facts.claims = claims
        return story
    }

    func knowing(owners: [AppAccountToken: AccountID]) -> Story {
        var story = self
        story.facts.tokenOwners = owners
        return story
    }

    func when(_ command: Command) -> Ending {
        do throws(Rejection) {
            return Ending(result: .success(try history.account.decide(command, knowing: facts)))
        } catch {
            return Ending(result: .failure(error))
        }
    }

    struct Ending {
        let result: Result<[Event], Rejection>

        func then(_ events: Event..., sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(result == .success(events), sourceLocation: sourceLocation)
        }

        func then(_ rejection: Rejection, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(result == .failure(rejection), sourceLocation: sourceLocation)
        }
    }
}

func given(_ events: Event...) -> Story { Story(events) }

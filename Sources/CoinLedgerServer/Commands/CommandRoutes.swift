import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
import HTTPServer

extension CoinLedgerApp {
    func command(
        _ kind: CommandKind, _ segments: [String], _ request: HTTPRequest,
        _ query: QueryParameters
    ) async throws(InvalidRequest) -> HTTPResponse {
        let scopes = try await scopes(of: request, anyOf: kind.scopes)
        let account = try account(segments.first)
        let target = try segments.dropFirst().first.map { segment throws(InvalidRequest) in
            try CoinLedgerApp.target(Percent.decode(segment), kind)
        }
        let command = CommandRequest(
            kind: kind, account: account, target: target,
            body: try RequestBody(request.body, fields: kind.fields),
            key: try IdempotencyKey(
                account: account, texts: request.headers.values(of: "Idempotency-Key")),
            scopes: scopes, isDryRun: try query.bool("dryRun"))
        return HTTPResponse(try await carryOut(command))
    }

    static func target(_ text: String?, _ kind: CommandKind) throws(InvalidRequest) -> EventID {
        // An id that can't be one names nothing.
        guard let target = text.flatMap(EventID.init) else {
            throw InvalidRequest(kind.targetProblem)
        }
        return target
    }

    /// Has the ledger do it, at most once for its key.
    func carryOut(_ request: CommandRequest) async throws(InvalidRequest) -> Answered {
        let keyed = try await keyedRequest(request)
        do throws(KeyedError) {
            return try await services.ledger.submit(keyed)
        } catch {
            throw InvalidRequest(error.problem)
        }
    }

    func keyedRequest(
        _ request: CommandRequest
    ) async throws(InvalidRequest) -> KeyedRequest {
        let now = services.clock()
        let planner = CommandPlanner(rules: services.rules(), now: now)
        let plan = try planner.plan(request, reversing: try await spend(request))
        let work: KeyedRequest.Work =
            switch plan.work {
            case .action(let action):
                .command(
                    Command(id: .random(), account: request.account, time: now, action: action))
            case .refuse(let problem): .refuse(Answer(problem))
            }
        return KeyedRequest(
            key: request.key, requestSHA256: request.sha256, time: now, work: work,
            isDryRun: request.isDryRun, answer: plan.answer)
    }

    /// What was recorded of the spend that is to be reversed; nil for other commands.
    private func spend(
        _ request: CommandRequest
    ) async throws(InvalidRequest) -> CoinsSpent? {
        guard request.kind == .reversal, let target = request.target else { return nil }
        do throws(EventStoreError) {
            guard let stored = try await services.ledger.store.event(target),
                stored.account == request.account,
                case .coinsSpent(let spent) = try stored.decoded()
            else { return nil }
            return spent
        } catch {
            throw InvalidRequest(error.problem)
        }
    }
}

extension HTTPResponse {
    fileprivate init(_ answered: Answered) {
        let answer = answered.answer
        let type = answer.status < 400 ? "application/json" : Problem.mediaType
        var headers = [(name: "Content-Type", value: type)]
        if answered.isReplayed { headers.append(("Idempotent-Replayed", "true")) }
        self.init(status: answer.status, headers: headers, body: answer.body)
    }
}

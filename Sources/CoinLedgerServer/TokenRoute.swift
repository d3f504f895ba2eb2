import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
import HTTPServer

extension CoinLedgerApp {
    func linkToken(
        _ account: AccountID, _ request: HTTPRequest
    ) async throws(InvalidRequest) -> HTTPResponse {
        let text = try RequestBody(request.body, fields: ["appAccountToken"])
            .string("appAccountToken")
        guard let token = AppAccountToken(text) else {
            throw InvalidRequest(
                Problem(.invalidBody, "The field must be a UUID.", detail: "appAccountToken"))
        }
        let command = Command(
            id: .random(), account: account, time: services.clock(),
            action: .linkAppAccountToken(token))
        let outcomes: [Outcome]
        do throws(WriterError) {
            outcomes = try await services.ledger.submit([command], of: account)
        } catch {
            throw InvalidRequest(error.problem)
        }
        if case .rejected(.tokenLinkedToOtherAccount) = outcomes.first?.result {
            throw InvalidRequest(
                Problem(.tokenLinkedToOtherAccount, "The token is linked to another account."))
        }
        do throws(EventStoreError) {
            try await services.notifications.tokenWasLinked(token)
        } catch {
            // The token is linked; asked once more, this is made good.
            throw InvalidRequest(error.problem)
        }
        return HTTPResponse(
            status: 200,
            json: [
                "accountId": .string(account.text), "appAccountToken": .string(token.text),
            ])
    }
}

import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import HTTPServer

extension CoinLedgerApp {
    /// Has a purchase fetched from the store and granted.
    ///
    /// - Parameter segment: the transaction's id, percent-encoded.
    func redeliver(
        _ segment: String?, _ request: HTTPRequest
    ) async throws(InvalidRequest) -> HTTPResponse {
        let notFound = Problem(
            .transactionNotFound, "The store knows nothing of such a transaction.")
        // An id that can't be one names nothing.
        guard let id = segment.flatMap(Percent.decode).flatMap({ TransactionID($0) }) else {
            throw InvalidRequest(notFound)
        }
        let body = try RequestBody(request.body, fields: ["reason", "ticketId", "accountId"])
        let redelivery = Redelivery(
            reason: try body.text("reason", bytes: CommandPlanner.reasonBytes),
            ticketID: try body.identifier("ticketId"))
        let account =
            body.has("accountId") ? try CoinLedgerApp.account(body.string("accountId")) : nil
        do throws(StoreLookup.Failure) {
            let result = try await services.redeliveries.redeliver(
                id, to: account, because: redelivery)
            return HTTPResponse(result)
        } catch {
            throw InvalidRequest(error.problem(notFound: notFound))
        }
    }
}

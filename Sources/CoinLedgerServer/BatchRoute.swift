import CoinLedgerAPI
import HTTPServer

extension CoinLedgerApp {
    func batch(
        _ request: HTTPRequest, _ query: QueryParameters
    ) async throws(InvalidRequest) -> HTTPResponse {
        throw InvalidRequest(Problem(.notFound, "There is nothing at this path."))
    }
}

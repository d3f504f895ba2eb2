import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
import HTTPServer

/// Whether the store may be told how much of its purchases an account has used.
extension CoinLedgerApp {
    /// The same again is fine, and records nothing.
    func recordConsent(
        _ account: AccountID, _ request: HTTPRequest
    ) async throws(InvalidRequest) -> HTTPResponse {
        let isGiven = try RequestBody(request.body, fields: ["consented"]).bool("consented")
        let command = Command(
            id: .random(), account: account, time: services.clock(),
            action: .recordConsent(ConsentRecorded(isGiven: isGiven)))
        do throws(WriterError) {
            _ = try await services.ledger.submit([command], of: account)
        } catch {
            throw InvalidRequest(error.problem)
        }
        return consent(isGiven, of: account)
    }

    func consent(_ account: AccountID) async throws(InvalidRequest) -> HTTPResponse {
        do throws(EventStoreError) {
            return consent(try await services.ledger.store.account(account)?.consent, of: account)
        } catch {
            throw InvalidRequest(error.problem)
        }
    }

    /// - Parameter isGiven: nil if nobody has said.
    private func consent(_ isGiven: Bool?, of account: AccountID) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            json: [
                "accountId": .string(account.text),
                "consented": isGiven.map { .bool($0) } ?? .null,
            ])
    }
}

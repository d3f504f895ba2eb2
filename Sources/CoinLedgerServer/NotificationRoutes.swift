import AppStore
import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
import HTTPServer

/// The store's notifications, and what the support desk sees and does of them.
extension CoinLedgerApp {
    /// Takes a notification in. Nobody needs a key for it: the signature is the authority.
    func receiveNotification(
        _ request: HTTPRequest
    ) async throws(InvalidRequest) -> HTTPResponse {
        let object = try RequestBody.object(request.body)
        // The store may add fields, so that unknown ones are no mistake here.
        guard let signed = object["signedPayload"]?.string else {
            throw RequestBody.invalid("signedPayload", "The body lacks a required field.")
        }
        do throws(NotificationIntake.Failure) {
            let result = try await services.intake.accept(signed)
            return HTTPResponse(status: 200, json: ["outcome": .string(result.rawValue)])
        } catch {
            throw InvalidRequest(error.problem)
        }
    }

    func notifications(_ query: QueryParameters) async throws(InvalidRequest) -> HTTPResponse {
        let state =
            try query.value(
                "state", NotificationState.init(rawValue:), mustBe: "pending, done or dead")
            ?? .dead
        let list = "notifications \(state.rawValue)"
        let (after, limit) = try page(query, of: list)
        do throws(EventStoreError) {
            let found = try await services.notifications.store.notifications(
                in: state, after: after, limit: limit + 1)
            let page = found.prefix(limit)
            let next = found.count > page.count ? page.last?.number : nil
            return HTTPResponse(
                status: 200,
                json: [
                    "state": .string(state.rawValue),
                    "notifications": .array(page.map(\.json)),
                    "next": next.map { .string(Cursor(position: $0, of: list).text) } ?? .null,
                ])
        } catch {
            throw InvalidRequest(error.problem)
        }
    }

    func notification(_ segment: String?) async throws(InvalidRequest) -> HTTPResponse {
        HTTPResponse(status: 200, json: try await found(segment).json)
    }

    func retryNotification(_ segment: String?) async throws(InvalidRequest) -> HTTPResponse {
        let kept = try await found(segment)
        let isRetried: Bool
        do throws(EventStoreError) {
            isRetried = try await services.notifications.retry(kept.id)
        } catch {
            throw InvalidRequest(error.problem)
        }
        guard isRetried else {
            throw InvalidRequest(
                Problem(.notificationNotDead, "Only a dead notification is tried again."))
        }
        return HTTPResponse(status: 202, json: try await found(segment).json)
    }

    private func found(_ segment: String?) async throws(InvalidRequest) -> KeptNotification {
        let unknown = Problem(.notificationNotFound, "There is no such notification.")
        guard let id = segment.flatMap(Percent.decode).flatMap({ NotificationID($0) }) else {
            throw InvalidRequest(unknown)
        }
        let kept: KeptNotification?
        do throws(EventStoreError) {
            kept = try await services.notifications.store.notification(id)
        } catch {
            throw InvalidRequest(error.problem)
        }
        guard let kept else { throw InvalidRequest(unknown) }
        return kept
    }
}

extension NotificationIntake.Failure {
    fileprivate var problem: Problem {
        switch self {
        case .untrusted(let error):
            Problem(
                ProblemCode(code: error.code, status: 400, isRetryable: false), error.message)
        case .revocationUnknown:
            Problem(.revocationUnknown, "Whether a certificate was revoked can't be asked now.")
        case .overloaded: Problem(.overloaded, "The service has too much to do now.")
        case .unavailable: Problem(.ledgerUnavailable, "The ledger can't be reached now.")
        }
    }
}

extension KeptNotification {
    var json: JSON {
        func text(_ value: String?) -> JSON { value.map(JSON.string) ?? .null }
        let transaction = received.transaction
        return [
            "notificationUuid": .string(id.text),
            "environment": .string(received.environment.rawValue),
            "type": .string(received.type), "subtype": text(received.subtype),
            "signedAt": .string(received.signedAt.description),
            "receivedAt": .string(received.receivedAt.description),
            "transactionId": text(transaction?.id.text),
            "originalTransactionId": text(transaction?.originalID.text),
            "productId": text(transaction?.productID),
            "appAccountToken": text(transaction?.appAccountToken?.text),
            "state": .string(state.rawValue), "attempts": .integer(attempts),
            "nextAttemptAt": state == .pending ? .string(nextAttemptAt.description) : .null,
            "outcome": text(outcome),
            "detail": detail.flatMap { try? JSON.parse(Array($0.utf8)) } ?? .null,
            "endedAt": text(endedAt?.description),
        ]
    }
}

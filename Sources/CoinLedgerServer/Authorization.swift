import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import HTTPServer

/// Who may do what. The key is checked before anything else, so that strangers learn nothing.
extension CoinLedgerApp {
    func authorize(
        _ request: HTTPRequest, _ scope: APIScope
    ) async throws(InvalidRequest) {
        do throws(KeyRing.Denial) {
            try await services.keys.check(request.headers["Authorization"], for: scope)
        } catch {
            throw InvalidRequest(error.problem)
        }
    }

    /// What the bearer of the request's key may do, which must be one of `scopes` at least.
    func scopes(
        of request: HTTPRequest, anyOf scopes: APIScopes
    ) async throws(InvalidRequest) -> APIScopes {
        let found: APIScopes
        do throws(KeyRing.Denial) {
            found = try await services.keys.scopes(request.headers["Authorization"])
        } catch {
            throw InvalidRequest(error.problem)
        }
        guard !found.isDisjoint(with: scopes) else {
            throw InvalidRequest(KeyRing.Denial.forbidden.problem)
        }
        return found
    }

    /// Checks the key, and then the account id.
    func account(
        _ segments: [String], _ request: HTTPRequest, _ scope: APIScope
    ) async throws(InvalidRequest) -> AccountID {
        try await authorize(request, scope)
        return try account(segments.first)
    }

    /// - Parameter segment: percent-encoded.
    func account(_ segment: String?) throws(InvalidRequest) -> AccountID {
        try CoinLedgerApp.account(segment.flatMap(Percent.decode))
    }

    static func account(_ text: String?) throws(InvalidRequest) -> AccountID {
        guard let account = text.flatMap({ AccountID($0) }) else {
            throw InvalidRequest(
                Problem(
                    .invalidAccountID,
                    "An account id is 1 to 64 of the letters A to Z and a to z, digits, and . _ : -"
                ))
        }
        return account
    }
}

extension KeyRing.Denial {
    var problem: Problem {
        switch self {
        case .unauthenticated:
            Problem(.unauthenticated, "The request needs the bearer key of this service.")
        case .forbidden: Problem(.forbidden, "The key may not do this.")
        case .unavailable: Problem(.ledgerUnavailable, "The ledger can't be reached now.")
        }
    }
}

/// The stable code of an error, with the status it's answered with and whether to try again.
///
/// Codes are never renamed. Those of receipts that can't be read or trusted are many and come from
/// where they are found; they are made with `init(code:status:retryable:)`.
package struct ProblemCode: Hashable, Sendable {
    package let code: String
    package let status: Int
    /// Whether the same request may succeed later.
    package let isRetryable: Bool

    package init(code: String, status: Int, isRetryable: Bool) {
        self.code = code
        self.status = status
        self.isRetryable = isRetryable
    }

    private init(_ code: String, _ status: Int, retryable: Bool = false) {
        self.init(code: code, status: status, isRetryable: retryable)
    }

    // What is wrong with the request.
    package static let malformedJSON = ProblemCode("malformed_json", 400)
    package static let invalidBody = ProblemCode("invalid_body", 400)
    package static let invalidParameter = ProblemCode("invalid_parameter", 400)
    package static let invalidAccountID = ProblemCode("invalid_account_id", 400)
    package static let invalidCursor = ProblemCode("invalid_cursor", 400)
    package static let idempotencyKeyRequired = ProblemCode("idempotency_key_required", 400)
    package static let invalidIdempotencyKey = ProblemCode("invalid_idempotency_key", 400)
    package static let tooManyCommands = ProblemCode("too_many_commands", 413)
    package static let idempotencyKeyReused = ProblemCode("idempotency_key_reused", 422)
    package static let unauthenticated = ProblemCode("unauthenticated", 401)
    package static let forbidden = ProblemCode("forbidden", 403)
    package static let notFound = ProblemCode("not_found", 404)
    package static let methodNotAllowed = ProblemCode("method_not_allowed", 405)

    // What is known of the purchase.
    package static let alreadyGranted = ProblemCode("already_granted", 409)
    package static let grantedToOtherAccount = ProblemCode("granted_to_other_account", 409)
    package static let belongsToOtherAccount = ProblemCode("belongs_to_other_account", 409)
    package static let refunded = ProblemCode("refunded", 409)
    package static let tokenLinkedToOtherAccount =
        ProblemCode("token_linked_to_other_account", 409)
    package static let sandboxRefused = ProblemCode("sandbox_refused", 403)
    package static let transactionNotInReceipt =
        ProblemCode("transaction_not_in_receipt", 422, retryable: true)
    package static let unknownProduct = ProblemCode("unknown_product", 422, retryable: true)
    package static let wrongApp = ProblemCode("wrong_app", 422)
    package static let notConsumable = ProblemCode("not_consumable", 422)
    package static let notPurchased = ProblemCode("not_purchased", 422)
    package static let quantityOutOfRange = ProblemCode("quantity_out_of_range", 422)
    package static let environmentRefused = ProblemCode("environment_refused", 422)
    package static let malformedPurchase = ProblemCode("malformed_purchase", 422)
    package static let balanceTooLarge = ProblemCode("balance_too_large", 422)
    package static let rejectedByStore = ProblemCode("rejected_by_store", 422)
    package static let ownerUnknown = ProblemCode("owner_unknown", 422)
    package static let storeRefused = ProblemCode("store_refused", 422)
    package static let certificateRevoked = ProblemCode("certificate_revoked", 422)

    // What is known of coins.
    package static let insufficientCoins = ProblemCode("insufficient_coins", 409)
    package static let inDebt = ProblemCode("in_debt", 409)
    package static let priceChanged = ProblemCode("price_changed", 409)
    package static let alreadyReversed = ProblemCode("already_reversed", 409)
    package static let holdExpired = ProblemCode("hold_expired", 409)
    package static let tooManyHolds = ProblemCode("too_many_holds", 409)
    package static let unknownStamp = ProblemCode("unknown_stamp", 422)
    package static let tooManyLots = ProblemCode("too_many_lots", 422)
    package static let captureTooLarge = ProblemCode("capture_too_large", 422)
    package static let eventNotFound = ProblemCode("event_not_found", 404)
    package static let spendNotFound = ProblemCode("spend_not_found", 404)
    package static let holdNotFound = ProblemCode("hold_not_found", 404)
    package static let transactionNotFound = ProblemCode("transaction_not_found", 404)
    package static let orderNotFound = ProblemCode("order_not_found", 404)

    // What is known of notifications.
    package static let notificationNotFound = ProblemCode("notification_not_found", 404)
    package static let notificationNotDead = ProblemCode("notification_not_dead", 409)

    // What the service can't do now.
    package static let internalError = ProblemCode("internal_error", 500, retryable: true)
    package static let storeUnavailable = ProblemCode("store_unavailable", 503, retryable: true)
    package static let storeUnauthorized = ProblemCode("store_unauthorized", 503)
    package static let appStoreAPINotConfigured =
        ProblemCode("app_store_api_not_configured", 503)
    package static let revocationUnknown = ProblemCode("revocation_unknown", 503, retryable: true)
    package static let ledgerUnavailable = ProblemCode("ledger_unavailable", 503, retryable: true)
    package static let overloaded = ProblemCode("overloaded", 503, retryable: true)

    /// Every code above.
    package static let named: [ProblemCode] = [
        malformedJSON, invalidBody, invalidParameter, invalidAccountID, invalidCursor,
        idempotencyKeyRequired, invalidIdempotencyKey, tooManyCommands, idempotencyKeyReused,
        unauthenticated, forbidden, notFound, methodNotAllowed, alreadyGranted,
        grantedToOtherAccount, belongsToOtherAccount, refunded, tokenLinkedToOtherAccount,
        sandboxRefused, transactionNotInReceipt, unknownProduct, wrongApp, notConsumable,
        notPurchased, quantityOutOfRange, environmentRefused, malformedPurchase, balanceTooLarge,
        rejectedByStore, certificateRevoked, insufficientCoins, inDebt, priceChanged,
        alreadyReversed, holdExpired,
        tooManyHolds, unknownStamp, tooManyLots, captureTooLarge, eventNotFound, spendNotFound,
        holdNotFound, transactionNotFound, notificationNotFound, notificationNotDead,
        internalError, storeUnavailable, revocationUnknown, ledgerUnavailable, overloaded,
        ownerUnknown, storeRefused, orderNotFound, storeUnauthorized, appStoreAPINotConfigured,
    ]
}

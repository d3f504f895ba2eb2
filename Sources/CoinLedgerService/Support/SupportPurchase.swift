package import CoinLedger
package import EventStore

/// What has become of a purchase that somebody misses, with everything that's known of it.
package struct SupportPurchase: Sendable {
    package let status: SupportStatus
    /// Nil if nobody has told.
    package let transactionID: TransactionID?
    package let environment: Environment?
    package let productID: String?
    /// Whose coins they are or, if nobody's, who posted it last.
    package let account: AccountID?
    package let purchasedAt: Timestamp?
    /// Why it isn't granted; nil if that isn't anybody's decision.
    package let refusal: Refusal?
    package let evidence: Evidence
    package let nextStep: SupportStep

    package struct Refusal: Hashable, Sendable {
        /// The stable code of the reason.
        package let code: String
        package let at: Timestamp
    }

    /// What the status was told from, as much as fits.
    package struct Evidence: Sendable {
        package var events: [StoredEvent] = []
        /// Claims after what is more than that; else the last ones first.
        package var attempts: [KeptAttempt] = []
        /// In the order of arrival.
        package var notifications: [KeptNotification] = []
        /// Whether there is more of them.
        package var isTruncated = false

        /// Of each kind.
        package static let countMax = 20
    }
}

package enum SupportStatus: String, Hashable, Sendable, CaseIterable {
    /// Nothing of it has ever arrived.
    case neverReceived = "never_received"
    /// It was posted and isn't granted, for a reason that stays until somebody does something.
    case rejected
    /// It was posted, and the store couldn't be asked then; or it's just being worked on.
    case waitingForStore = "waiting_for_store"
    /// The store has told of it, but nobody knows whose it is.
    case unclaimed
    /// Nobody has paid for it: its coins, if any, are play money.
    case sandbox
    case granted
    /// To another account than the one that asks for it or has posted it.
    case grantedToOtherAccount = "granted_to_other_account"
    /// The customer has got the money back.
    case refunded
    case partlyRefunded = "partly_refunded"
}

/// What the support desk does next.
package enum SupportStep: String, Hashable, Sendable, CaseIterable {
    case redeliver
    case redeliverToAccount = "redeliver_to_account"
    case linkToken = "link_token"
    case askForOrderID = "ask_for_order_id"
    case askWhichAccount = "ask_which_account"
    case postAgain = "post_again"
    case mendCatalogue = "mend_catalogue"
    case explainRejection = "explain_rejection"
    case wait
    case explainSandbox = "explain_sandbox"
    case showHistory = "show_history"
    case explainRefund = "explain_refund"

    /// One sentence or two for whoever answers the customer.
    package var message: String {
        switch self {
        case .redeliver:
            "Fetch it from the store and grant it: POST /v1/transactions/{id}/redelivery."
        case .redeliverToAccount:
            "Nobody knows whose purchase it is. Have the customer open the app, or redeliver it to "
                + "the customer's account."
        case .linkToken:
            "It carries a token that no account has. Link the token to the customer's account; it's "
                + "granted then by itself."
        case .askForOrderID:
            "Ask the customer for the order id on the store's invoice, and look for that."
        case .askWhichAccount:
            "It belongs to another account. Ask the customer who else uses the device or the store's "
                + "account, and have them log in as the one who bought it."
        case .postAgain:
            "The receipt didn't hold the purchase yet. Have the customer open the app again; if that "
                + "doesn't help, ask for the order id."
        case .mendCatalogue:
            "The catalogue lacks the product. Once it's there, have the app post again, retry the "
                + "notification, or redeliver the purchase."
        case .explainRejection:
            "The purchase isn't worth coins, for the reason that is named. Explain it to the "
                + "customer; only the store can give the money back."
        case .wait:
            "It's being worked on, and the app tries again by itself. Look again in a few minutes; if "
                + "it's still so then, redeliver it."
        case .explainSandbox:
            "It was bought with play money, which buys nothing real. Nobody was charged."
        case .showHistory:
            "The coins were granted. Show the customer what the account has done since: "
                + "GET /v1/accounts/{id}/events."
        case .explainRefund:
            "The store has given the money back, and the coins were taken back with it."
        }
    }
}

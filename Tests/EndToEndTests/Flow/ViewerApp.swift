import AppStoreStandIn
import TestSupport

/// The app on one phone, as the flow's contract wants it: it posts what was charged and isn't
/// finished, each transaction in one post at a time, and finishes what an answer lets it.
final class ViewerApp {
    /// Where a transaction stands in the phone's queue. What is finished has left it.
    enum QueueState {
        /// Somebody else has to approve it.
        case deferred
        /// Cancelled or declined.
        case failed
        case purchased
    }

    /// What the app posts of a transaction.
    enum Proof {
        case signedTransaction
        /// The phone's whole receipt as it is at that moment.
        case appReceipt
    }

    let account: String
    let device: String
    /// Without a network no post leaves the phone.
    var isOnline = true
    private let ask: (_ receipt: String, _ account: String) throws -> HTTPAnswer
    private let shop: Shop
    private(set) var queue: [Entry] = []
    private var inFlight: Set<String> = []
    /// Statuses of all answers, in their order.
    private(set) var statuses: [Int] = []

    struct Entry {
        let transactionID: String
        let state: QueueState
        /// What the store has signed of it, once it's charged.
        let signedTransaction: String?
    }

    /// - Parameter ask: posts for an account and returns the answer.
    init(
        account: String, device: String, shop: Shop,
        ask: @escaping (_ receipt: String, _ account: String) throws -> HTTPAnswer
    ) {
        (self.account, self.device, self.shop, self.ask) = (account, device, shop, ask)
    }

    /// The store has charged for `sale`, and the phone sees it.
    func add(_ sale: StandInSale) {
        add(sale.transactionID, .purchased, signedTransaction: sale.signedTransaction)
    }

    /// The store has put a transaction into the queue, or says something new about it.
    func add(_ id: String, _ state: QueueState, signedTransaction: String? = nil) {
        forget(id)
        queue.append(
            Entry(transactionID: id, state: state, signedTransaction: signedTransaction))
    }

    /// The transaction leaves the queue without this app's doing.
    func forget(_ id: String) { queue.removeAll { $0.transactionID == id } }

    /// Whether nothing waits to be finished.
    var isDone: Bool { queue.isEmpty }

    /// One pass of launch, foreground or login. What failed is finished; what is charged and isn't
    /// under way is posted.
    ///
    /// - Parameter isFinishing: whether the app lives long enough to finish what it may.
    func pass(_ proof: Proof = .signedTransaction, isFinishing: Bool = true) throws {
        for entry in queue where entry.state == .failed { forget(entry.transactionID) }
        let ids = queue.filter { $0.state == .purchased }.map(\.transactionID)
        for id in ids where isOnline && !inFlight.contains(id) {
            // One receipt may have settled it together with the one before it.
            guard let entry = queue.first(where: { $0.transactionID == id }) else { continue }
            let receipt =
                switch proof {
                case .signedTransaction: entry.signedTransaction ?? ""
                case .appReceipt: shop.store.receipt(device: device)
                }
            let answer = try whileInFlight(id) { try ask(receipt, account) }
            if isFinishing { try settle(answer) }
        }
    }

    /// Calls `body` with a post of the transaction under way.
    func whileInFlight<Result>(_ id: String, _ body: () throws -> Result) rethrows -> Result {
        inFlight.insert(id)
        defer { inFlight.remove(id) }
        return try body()
    }

    /// 201 and 409 finish what they say may be finished; anything else keeps it.
    func settle(_ answer: HTTPAnswer) throws {
        statuses.append(answer.status)
        guard answer.status == 201 || answer.status == 409 else { return }
        for (id, isFinished) in answer.finish where isFinished {
            try shop.store.finish(id)
            forget(id)
        }
    }
}

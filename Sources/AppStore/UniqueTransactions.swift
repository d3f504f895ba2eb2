/// The transactions of a receipt, each id once, in the order they first came.
///
/// A receipt may repeat itself; if one of the copies says that the transaction was taken back, that
/// is the newer one.
package struct UniqueTransactions: Sendable {
    package private(set) var all: [StoreTransaction] = []
    private var places: [String: Int] = [:]

    package init() {}

    package mutating func add(_ transaction: StoreTransaction) {
        if let place = places[transaction.transactionID] {
            if all[place].revocation == nil { all[place] = transaction }
        } else {
            places[transaction.transactionID] = all.count
            all.append(transaction)
        }
    }
}

import Base

/// What the Server API asks the store for.
extension StandInStore {
    /// The made sale with this id, which may also be the original one of it.
    func sale(_ anyID: String, in environment: String) -> Sale? {
        state.withLock { state in
            let sale = state.sales[anyID] ?? state.originals[anyID].flatMap { state.sales[$0] }
            guard let sale, sale.state == .purchased, sale.environment == environment else {
                return nil
            }
            return sale
        }
    }

    /// Everything that the customer of this sale has bought in its environment.
    func sales(ofCustomerOf sale: Sale) -> [Sale] {
        state.withLock { state in
            (state.customers[sale.device] ?? []).compactMap { state.sales[$0] }
                .filter { $0.state == .purchased && $0.environment == sale.environment }
        }
    }

    /// The production sales of an order, oldest first.
    func sales(ofOrder order: String) -> [Sale] {
        state.withLock { state in
            (state.orders[order] ?? []).compactMap { state.sales[$0] }
                .filter {
                    $0.state == .purchased && $0.environment == StoreName.production
                }
        }
    }

    /// Sets the token of every sale with this original id.
    func setAppAccountToken(_ token: String, ofOriginal originalID: String, in environment: String)
    {
        state.withLock { state in
            for sale in state.sales.values
            where sale.originalTransactionID == originalID && sale.environment == environment {
                var sale = sale
                sale.setAppAccountToken(token)
                state.put(sale)
            }
        }
    }

    func add(consumption information: JSON, of sale: Sale) {
        state.withLock { $0.sales[sale.transactionID]?.add(consumption: information) }
    }

    /// Sends a test notification and returns its token; nil if there's no target.
    func requestTestNotification(
        _ environment: String
    ) throws(StandInStoreError) -> String? {
        let token = "\(RandomID.uuid())_\(now())"
        var notification = StandInNotification("TEST")
        notification.environment = environment
        return try send(notification, testToken: token) == nil ? nil : token
    }
}

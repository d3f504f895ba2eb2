import Base

/// What happens to a purchase after it was made. Each returns the signed payload of the
/// notification that tells the service, and sends it if there is a target, unless told not to.
extension StandInStore {
    /// Pays a purchase back, wholly or in part; again changes the earlier refund.
    ///
    /// - Parameters:
    ///   - percentage: thousandths of a per cent, 1 to 100000.
    ///   - date: milliseconds since 1970; now if nil.
    @discardableResult
    package func refund(
        _ transactionID: String, percentage: Int64 = StandInRefund.wholePercentage,
        reason: Int64 = 0, date: Int64? = nil, notify: Bool = true
    ) throws(StandInStoreError) -> String {
        precondition(
            (1...StandInRefund.wholePercentage).contains(percentage), "no such part of a price")
        guard notifications.hasRoom else { throw .full }
        let refund = StandInRefund(date: date ?? now(), percentage: percentage, reason: reason)
        try state.withLock { state throws(StandInStoreError) in
            var sale = try StandInStore.purchased(transactionID, in: state)
            sale.setRefund(refund)
            state.put(sale)
        }
        return try announce(StandInNotification("REFUND", of: transactionID), notify: notify)
    }

    /// Takes the refund of a purchase back, as after a dispute.
    @discardableResult
    package func reverseRefund(
        _ transactionID: String, notify: Bool = true
    ) throws(StandInStoreError) -> String {
        guard notifications.hasRoom else { throw .full }
        try state.withLock { state throws(StandInStoreError) in
            var sale = try StandInStore.purchased(transactionID, in: state)
            guard sale.refund != nil else { throw .notRefunded }
            sale.setRefund(nil)
            state.put(sale)
        }
        return try announce(
            StandInNotification("REFUND_REVERSED", of: transactionID), notify: notify)
    }

    /// Refuses a refund that was asked for.
    @discardableResult
    package func declineRefund(
        _ transactionID: String, notify: Bool = true
    ) throws(StandInStoreError) -> String {
        try announce(StandInNotification("REFUND_DECLINED", of: transactionID), notify: notify)
    }

    /// Asks what has become of a purchase, since the customer wants a refund.
    @discardableResult
    package func requestConsumption(
        _ transactionID: String, reason: String = "UNINTENDED_PURCHASE", notify: Bool = true
    ) throws(StandInStoreError) -> String {
        var notification = StandInNotification("CONSUMPTION_REQUEST", of: transactionID)
        notification.consumptionRequestReason = reason
        return try announce(notification, notify: notify)
    }

    /// What the service has answered to the requests for a purchase's consumption.
    package func consumption(
        of transactionID: String
    ) throws(StandInStoreError) -> ConsumptionAnswers {
        try state.withLock { state throws(StandInStoreError) in
            try StandInStore.purchased(transactionID, in: state).consumption
        }
    }

    private func announce(
        _ notification: StandInNotification, notify: Bool
    ) throws(StandInStoreError) -> String {
        if notify, let sent = try send(notification) { return sent.signedPayload }
        return try sign(notification).signedPayload
    }
}

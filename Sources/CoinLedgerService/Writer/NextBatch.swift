/// The work of a batch, which may have been decided in part before the batch's turn has come.
struct NextBatch {
    var work: [QueuedWork] = []
    /// Of the first so many of `work`, in this order.
    var decisions: Decisions?
}

/// How notifications go wrong, and how often.
package struct NotificationFault: Hashable, Sendable {
    /// What happens to a notification.
    package enum Effect: Hashable, Sendable {
        /// An attempt gets lost on its way.
        case lose
        /// An attempt arrives, but its answer gets lost, so that another one follows.
        case loseAnswer
        /// It arrives so many times more, all at once.
        case duplicate(copies: Int)
        /// It's sent only when so many others were delivered.
        case reorder(behind: Int)
        /// It's signed wrongly, or is of another app.
        case outer(PurchaseFault)
        /// The transaction inside is signed wrongly, or is of another app.
        case inner(PurchaseFault)

        /// Effects of one kind are taken one after the other.
        var kind: Kind {
            switch self {
            case .lose, .loseAnswer: .attempt
            case .duplicate: .duplicate
            case .reorder: .reorder
            case .outer: .outer
            case .inner: .inner
            }
        }
    }

    enum Kind: Hashable, Sendable {
        case attempt
        case duplicate
        case reorder
        case outer
        case inner
    }

    package var effect: Effect
    /// Of which type of notification; of any if nil.
    package var type: String?
    package var times: Int64

    package static let timesMax: Int64 = 1_000_000
    package static let copiesMax: Int64 = 10
    package static let behindMax: Int64 = 1000

    package init(_ effect: Effect, type: String? = nil, times: Int64 = 1) {
        self.effect = effect
        self.type = type
        self.times = times
    }
}

/// The faults of notifications that are still to come, in the order they were asked for.
struct NotificationFaults: Sendable {
    private var faults: [NotificationFault] = []

    static let faultsMax = 100

    var count: Int { faults.count }

    /// False if there are too many.
    mutating func add(_ fault: NotificationFault) -> Bool {
        guard faults.count < NotificationFaults.faultsMax else { return false }
        faults.append(fault)
        return true
    }

    mutating func removeAll() { faults.removeAll() }

    /// The first fault of this kind that a notification of `type` has, once less from now on.
    mutating func take(_ kind: NotificationFault.Kind, _ type: String) -> NotificationFault.Effect?
    {
        let index = faults.firstIndex { fault in
            fault.effect.kind == kind && (fault.type ?? type) == type
        }
        guard let index else { return nil }
        faults[index].times -= 1
        defer { if faults[index].times <= 0 { faults.remove(at: index) } }
        return faults[index].effect
    }
}

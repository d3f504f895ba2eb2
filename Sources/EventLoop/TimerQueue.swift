/// Names a timer of one loop, to cancel it.
package struct TimerID: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// Timers by deadline: a binary heap, with cancelled ones dropped when they come up.
struct TimerQueue {
    private struct Entry {
        let deadline: Int64
        let id: TimerID

        /// Timers of one deadline fire in the order they were added.
        func isBefore(_ other: Entry) -> Bool {
            (deadline, id.number) < (other.deadline, other.id.number)
        }
    }

    private var heap: [Entry] = []
    private var bodies: [TimerID: () -> Void] = [:]
    private var lastNumber: UInt64 = 0

    mutating func add(deadline: Int64, _ body: @escaping () -> Void) -> TimerID {
        lastNumber += 1
        let id = TimerID(number: lastNumber)
        bodies[id] = body
        heap.append(Entry(deadline: deadline, id: id))
        siftUp(from: heap.count - 1)
        return id
    }

    mutating func cancel(_ id: TimerID) {
        bodies[id] = nil
        // Long timers that are mostly cancelled must not pile up.
        if heap.count > 64, heap.count > 2 * bodies.count {
            let live = heap.filter { bodies[$0.id] != nil }
            heap = live.sorted { $0.isBefore($1) }
        }
    }

    /// Takes the timer that is due first, or nil if none is due at `now`.
    ///
    /// The caller runs the body after this has returned, so that it may add and cancel timers.
    mutating func takeFirstDue(at now: Int64) -> (() -> Void)? {
        dropCancelled()
        guard let first = heap.first, first.deadline <= now else { return nil }
        removeFirst()
        return bodies.removeValue(forKey: first.id)
    }

    /// Milliseconds from `now` to the next timer, at most a minute; −1 if there is none.
    mutating func milliseconds(from now: Int64) -> Int32 {
        dropCancelled()
        guard let first = heap.first else { return -1 }
        return Int32(clamping: min(max(0, first.deadline - now), 60_000))
    }

    private mutating func dropCancelled() {
        while let first = heap.first, bodies[first.id] == nil { removeFirst() }
    }

    private mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].isBefore(heap[least]) {
                least = child
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private mutating func siftUp(from index: Int) {
        var child = index
        while child > 0 {
            let parent = (child - 1) / 2
            if heap[parent].isBefore(heap[child]) { return }
            heap.swapAt(parent, child)
            child = parent
        }
    }
}

/// Names a timer of one loop, to cancel it.
package struct TimerID: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// Timers by deadline: a binary heap, with cancelled ones dropped when they come up.
struct TimerQueue {
    private struct Entry {
        let deadline: Int64
        let id: TimerID
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
            heap = live.sorted { $0.deadline < $1.deadline }
        }
    }

    /// Runs what is due and returns the milliseconds until the next one, or −1 if there is none.
    mutating func fire(now: Int64) -> Int32 {
        while let first = heap.first {
            let body = bodies[first.id]
            if body != nil, first.deadline > now {
                return Int32(clamping: min(first.deadline - now, 60_000))
            }
            removeFirst()
            bodies[first.id] = nil
            body?()
        }
        return -1
    }

    private mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].deadline < heap[least].deadline {
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
            if heap[parent].deadline <= heap[child].deadline { return }
            heap.swapAt(parent, child)
            child = parent
        }
    }
}

import Base
import Testing

@Suite struct `A queue` {
    @Test func `gives things back in the order in which they came`() {
        var queue = Queue<Int>()
        #expect(queue.takeFirst() == nil)
        queue.append(1)
        queue.append(contentsOf: [2, 3, 4])
        #expect(queue.first == 1)
        #expect(queue.takeFirst() == 1)
        #expect(Array(queue.all) == [2, 3, 4])
        queue.replaceFirst(with: 20)
        #expect(queue.take(2) == [20, 3])
        #expect((queue.count, queue.isEmpty) == (1, false))
        #expect(queue.takeFirst() == 4)
        #expect((queue.count, queue.isEmpty, queue.first) == (0, true, nil))
        #expect(queue.take(0) == [])
    }

    @Test func `that is never empty keeps its order, too`() {
        var queue = Queue<Int>()
        queue.append(contentsOf: Array(0..<100))
        for number in 0..<10_000 {
            queue.append(number + 100)
            #expect(queue.takeFirst() == number)
        }
        #expect(queue.take(100) == Array(10_000..<10_100))
        #expect(queue.isEmpty)
    }
}

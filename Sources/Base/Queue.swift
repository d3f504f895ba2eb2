/// First in, first out.
///
/// What is taken leaves its place empty until all is gone, or so many are that the rest moves up: to move
/// it each time would cost as much as there is.
///
/// Public and inlinable, since generic code is compiled for other modules' types only if it is.
@frozen public struct Queue<Element> {
    @usableFromInline var elements: [Element] = []
    @usableFromInline var start = 0

    /// How many places at the front are empty before the rest moves up.
    @usableFromInline static var emptyMax: Int { 1024 }

    @inlinable public init() {}

    @inlinable public var count: Int { elements.count - start }
    @inlinable public var isEmpty: Bool { start == elements.count }

    /// What comes next, and stays; nil if nothing does.
    @inlinable public var first: Element? { isEmpty ? nil : elements[start] }

    /// All of it, in order.
    @inlinable public var all: ArraySlice<Element> { elements[start...] }

    @inlinable public mutating func append(_ element: Element) { elements.append(element) }

    @inlinable public mutating func append(contentsOf more: [Element]) { elements += more }

    /// Puts something in the place of what comes next; there must be such a thing.
    @inlinable public mutating func replaceFirst(with element: Element) {
        elements[start] = element
    }

    @inlinable public mutating func takeFirst() -> Element? {
        guard let first else { return nil }
        drop(1)
        return first
    }

    /// Takes `count` of them; there must be as many.
    @inlinable public mutating func take(_ count: Int) -> [Element] {
        let taken = Array(elements[start..<start + count])
        drop(count)
        return taken
    }

    @inlinable mutating func drop(_ count: Int) {
        start += count
        if start == elements.count {
            elements.removeAll(keepingCapacity: true)
            start = 0
        } else if start >= Queue.emptyMax {
            elements.removeFirst(start)
            start = 0
        }
    }
}

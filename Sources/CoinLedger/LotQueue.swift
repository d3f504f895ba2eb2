/// The open lots of one kind in the order in which they are used up: paid ones by number, free ones
/// by expiry.
///
/// Lots are taken from the front and added at the back, so that an account may have many thousands.
struct LotQueue: Sendable {
    private var lots: [OpenLot] = []
    /// Those before it are gone.
    private var first = 0
    private let kind: Lot.Kind
    /// How many have an expiry.
    private var expiringCount = 0
    /// Whether they have come in the order of their numbers, as they mostly do.
    private var isByNumber = true

    init(_ kind: Lot.Kind) { self.kind = kind }

    var count: Int { lots.count - first }

    var all: ArraySlice<OpenLot> { lots[first...] }

    /// The earliest expiry of any.
    var nextExpiry: Timestamp? {
        guard expiringCount > 0 else { return nil }
        return kind == .free ? all.first?.lot.expiresAt : all.lazy.compactMap(\.lot.expiresAt).min()
    }

    subscript(number: Int64) -> OpenLot? { index(of: number).map { lots[$0] } }

    /// The same where the whole lot is known, however many there are.
    subscript(lot: Lot) -> OpenLot? {
        let index = firstIndex(notBefore: lot)
        return index < lots.count && lots[index].lot.number == lot.number ? lots[index] : nil
    }

    /// Lots with a number above `number`, and perhaps some others, however many there are.
    func newest(above number: Int64) -> ArraySlice<OpenLot> {
        isByNumber ? lots[firstIndex { $0.lot.number <= number }...] : all
    }

    mutating func add(_ open: OpenLot) {
        if open.lot.expiresAt != nil { expiringCount += 1 }
        let index = firstIndex(notBefore: open.lot)
        if count == 0 {
            isByNumber = true
        } else if index < lots.count || lots[index - 1].lot.number > open.lot.number {
            isByNumber = false
        }
        lots.insert(open, at: index)
    }

    /// Takes a slice out of its lot, which goes when it's empty; false if it isn't here.
    mutating func take(_ slice: Slice) -> Bool {
        guard let index = index(of: slice.lot) else { return false }
        lots[index].take(slice)
        if lots[index].remaining == .zero { remove(at: index) }
        return true
    }

    /// Gives coins back to their lot, opening it again if need be.
    mutating func give(_ slice: ReturnedSlice) {
        let index = firstIndex(notBefore: slice.lot)
        if index < lots.count, lots[index].lot.number == slice.lot.number {
            lots[index].give(slice)
        } else {
            var open = OpenLot.closed(slice.lot)
            open.give(slice)
            add(open)
        }
    }

    private mutating func remove(at index: Int) {
        if lots[index].lot.expiresAt != nil { expiringCount -= 1 }
        guard index == first else {
            lots.remove(at: index)
            return
        }
        first += 1
        guard first * 2 > lots.count else { return }
        lots.removeFirst(first)
        first = 0
    }

    /// Without its expiry a free lot has to be searched for from the front, where those that are
    /// drawn from stand.
    private func index(of number: Int64) -> Int? {
        if kind == .free { return all.firstIndex { $0.lot.number == number } }
        let index = firstIndex { $0.lot.number < number }
        return index < lots.count && lots[index].lot.number == number ? index : nil
    }

    private func firstIndex(notBefore lot: Lot) -> Int {
        let place = place(lot)
        // Nearly always behind the last one.
        guard let last = lots.last, self.place(last.lot) >= place else { return lots.count }
        return firstIndex { self.place($0.lot) < place }
    }

    /// The first lot that isn't `before` something.
    private func firstIndex(_ before: (OpenLot) -> Bool) -> Int {
        var low = first
        var high = lots.count
        while low < high {
            let middle = (low + high) / 2
            if before(lots[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func place(_ lot: Lot) -> (Int64, Int64) {
        switch kind {
        case .paid: (0, lot.number)
        case .free: (lot.expiresAt?.milliseconds ?? .max, lot.number)
        }
    }
}

extension LotQueue: Hashable {
    static func == (one: LotQueue, other: LotQueue) -> Bool {
        one.kind == other.kind && one.all.elementsEqual(other.all)
    }

    func hash(into hasher: inout Hasher) {
        for lot in all { hasher.combine(lot) }
    }
}

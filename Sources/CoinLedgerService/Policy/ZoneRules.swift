import Base
package import CoinLedger
import Glibc

/// The offsets of a named time zone, as the system's tz database has them (TZif, RFC 8536).
package struct ZoneRules: Hashable, Sendable {
    package let name: String
    /// Seconds since 1970 from which on each offset applies, in order.
    private let transitions: [Int64]
    /// One more than transitions: the first applies before all of them. Seconds east of UTC.
    private let offsets: [Int64]

    package enum Invalid: Error, Hashable, Sendable {
        /// The system has no zone of that name.
        case unknownZone
        /// The file isn't one that can be used.
        case unreadable
    }

    private static let folder = "/usr/share/zoneinfo"
    private static let fileBytesMax = 1 << 20

    /// Reads the zone called `name`, such as `Asia/Tokyo`.
    package init(name: String) throws(Invalid) {
        let isPlain = name.utf8.allSatisfy {
            $0.isLetterOrDigit || "/_+-".utf8.contains($0)
        }
        guard isPlain, !name.isEmpty, !name.hasPrefix("/"),
            let bytes = ZoneRules.read("\(ZoneRules.folder)/\(name)")
        else { throw .unknownZone }
        try self.init(name: name, file: bytes)
    }

    init(name: String, file bytes: [UInt8]) throws(Invalid) {
        var file = TZifReader(bytes)
        guard let first = file.header(), first.version >= UInt8(ascii: "2") else {
            throw .unreadable
        }
        // The first block has 32-bit times, and everything is said again in the second.
        file.skip(first.bytes(timeSize: 4))
        guard let header = file.header(), header.typeCount > 0,
            let transitions = file.integers(header.timeCount, size: 8),
            let indices = file.bytes(header.timeCount),
            let types = file.types(header.typeCount)
        else { throw .unreadable }
        guard indices.allSatisfy({ Int($0) < types.count }) else { throw .unreadable }
        file.skip(header.bytesAfterTypes(timeSize: 8))
        // A rule for later years is needed only where the list doesn't reach into them.
        let isEndless = !file.rest.contains(UInt8(ascii: ","))
        guard isEndless || transitions.last ?? 0 > ZoneRules.lastYearNeeded else {
            throw .unreadable
        }
        self.name = name
        self.transitions = transitions
        offsets =
            [types.first { !$0.isSummer }?.offset ?? types[0].offset]
            + indices.map { types[Int($0)].offset }
    }

    /// The start of 2037, up to which "fat" files list every change.
    private static let lastYearNeeded: Int64 = 2_114_380_800

    /// The midnight that ends the day which is `days` after that of `time`.
    package func endOfDay(_ days: Int64, after time: Timestamp) -> Timestamp? {
        let seconds = time.milliseconds.flooredQuotient(by: 1000)
        let day = (seconds + offset(at: seconds)).flooredQuotient(by: 86_400)
        return midnight(ofDay: day + days + 1)
    }

    /// The midnight that begins a day, counted from 1970-01-01.
    func midnight(ofDay day: Int64) -> Timestamp? {
        let local = day * 86_400
        // The offset in force at the wanted instant: that of a first guess, but for a guess on the
        // other side of a change.
        let guess = local - offset(at: local - offset(at: local))
        return Timestamp(milliseconds: (local - offset(at: guess)) * 1000)
    }

    private func offset(at seconds: Int64) -> Int64 {
        var low = 0
        var high = transitions.count
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        return offsets[low]
    }

    private static func read(_ path: String) -> [UInt8]? {
        guard let file = unsafe fopen(path, "rb") else { return nil }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: fileBytesMax)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        return count > 0 && count < bytes.count ? Array(bytes[..<count]) : nil
    }
}

/// Takes a TZif file apart; nil wherever it ends too early.
private struct TZifReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    struct Header {
        let version: UInt8
        let utcCount: Int
        let standardCount: Int
        let leapCount: Int
        let timeCount: Int
        let typeCount: Int
        let nameBytes: Int

        func bytes(timeSize: Int) -> Int {
            timeCount * (timeSize + 1) + typeCount * 6 + bytesAfterTypes(timeSize: timeSize)
        }

        func bytesAfterTypes(timeSize: Int) -> Int {
            nameBytes + leapCount * (timeSize + 4) + standardCount + utcCount
        }
    }

    struct LocalType {
        let offset: Int64
        let isSummer: Bool
    }

    private static let countMax: Int64 = 65_536

    mutating func header() -> Header? {
        guard let magic = bytes(4), magic.elementsEqual("TZif".utf8),
            let version = bytes(16)?.first,
            let counts = integers(6, size: 4),
            counts.allSatisfy({ (0...TZifReader.countMax).contains($0) })
        else { return nil }
        let numbers = counts.map(Int.init)
        return Header(
            version: version, utcCount: numbers[0], standardCount: numbers[1],
            leapCount: numbers[2], timeCount: numbers[3], typeCount: numbers[4],
            nameBytes: numbers[5])
    }

    mutating func skip(_ count: Int) { rest = rest.dropFirst(count) }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { skip(count) }
        return rest.prefix(count)
    }

    /// Big-endian numbers with a sign.
    mutating func integers(_ count: Int, size: Int) -> [Int64]? {
        guard var bytes = bytes(count * size) else { return nil }
        return (0..<count).map { _ in
            let number = bytes.prefix(size)
            bytes = bytes.dropFirst(size)
            let start: Int64 = number.first.map { $0 >= 0x80 ? -1 : 0 } ?? 0
            return number.reduce(start) { $0 << 8 | Int64($1) }
        }
    }

    mutating func types(_ count: Int) -> [LocalType]? {
        var types: [LocalType] = []
        for _ in 0..<count {
            guard let offset = integers(1, size: 4)?.first, let rest = bytes(2),
                let isSummer = rest.first
            else { return nil }
            types.append(LocalType(offset: offset, isSummer: isSummer != 0))
        }
        return types
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}

extension Int64 {
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

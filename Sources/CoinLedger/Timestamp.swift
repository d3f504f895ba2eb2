/// An instant in milliseconds since 1970-01-01T00:00:00Z, in the years 1 to 9999.
///
/// Its text is RFC 3339 in UTC with milliseconds: `2026-11-30T14:34:00.000Z`.
package struct Timestamp: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let milliseconds: Int64

    /// 0001-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z.
    package static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    package init?(milliseconds: Int64) {
        guard Timestamp.range.contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    private init(unchecked milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The first instant there is.
    package static let earliest = Timestamp(unchecked: range.lowerBound)

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The earlier of two, where no instant is later than any.
    static func earlier(_ one: Timestamp?, _ other: Timestamp?) -> Timestamp? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    package var description: String {
        let millisecondsPerDay: Int64 = 86_400_000
        let day = Timestamp.floorDivision(milliseconds, millisecondsPerDay)
        let rest = milliseconds - day * millisecondsPerDay
        let date = Timestamp.civil(day: day)
        var text: [UInt8] = []
        text.reserveCapacity(24)
        Timestamp.append(date.year / 100, to: &text)
        Timestamp.append(date.year % 100, to: &text)
        text.append(UInt8(ascii: "-"))
        Timestamp.append(date.month, to: &text)
        text.append(UInt8(ascii: "-"))
        Timestamp.append(date.day, to: &text)
        text.append(UInt8(ascii: "T"))
        Timestamp.append(rest / 3_600_000, to: &text)
        text.append(UInt8(ascii: ":"))
        Timestamp.append(rest / 60_000 % 60, to: &text)
        text.append(UInt8(ascii: ":"))
        Timestamp.append(rest / 1000 % 60, to: &text)
        text.append(UInt8(ascii: "."))
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 1000 / 100))
        Timestamp.append(rest % 100, to: &text)
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads RFC 3339 (section 5.6) with any offset; digits beyond milliseconds are cut off.
    package init?(_ text: String) {
        var digits = DigitReader(Array(text.utf8))
        guard let year = digits.number(4), digits.take("-"), let month = digits.number(2),
            digits.take("-"), let day = digits.number(2), digits.take("T") || digits.take("t"),
            let hour = digits.number(2), digits.take(":"), let minute = digits.number(2),
            digits.take(":"), let second = digits.number(2),
            let fraction = digits.milliseconds(), let offset = digits.offsetMinutes(),
            digits.isAtEnd, year >= 1, (1...12).contains(month),
            (1...Timestamp.days(inMonth: month, of: year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Timestamp.days(toYear: year, month: month, day: day)
        let minutes = (days * 24 + hour) * 60 + minute - offset
        self.init(milliseconds: minutes * 60_000 + second * 1000 + fraction)
    }

    private static func floorDivision(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    /// The Gregorian date of a day counted from 1970-01-01, by counting years from 0000-03-01.
    private static func civil(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = floorDivision(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func days(toYear year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = floorDivision(year, 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func append(_ twoDigits: Int64, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: twoDigits / 10))
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: twoDigits % 10))
    }
}

/// Reads the parts of an RFC 3339 text.
private struct DigitReader {
    private let text: [UInt8]
    private var index = 0

    init(_ text: [UInt8]) { self.text = text }

    var isAtEnd: Bool { index == text.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < text.count, text[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    mutating func number(_ width: Int) -> Int64? {
        guard index + width <= text.count else { return nil }
        var value: Int64 = 0
        for _ in 0..<width {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// The fraction of a second if there is one, else 0; nil if a point has no digit after it.
    mutating func milliseconds() -> Int64? {
        guard take(".") else { return 0 }
        var value: Int64 = 0
        var count = 0
        while let digit = digit() {
            if count < 3 { value = value * 10 + digit }
            count += 1
        }
        guard count > 0 else { return nil }
        for _ in count..<max(count, 3) { value *= 10 }
        return value
    }

    mutating func offsetMinutes() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let isNegative = take("-")
        guard isNegative || take("+"), let hours = number(2), take(":"), let minutes = number(2),
            hours < 24, minutes < 60
        else { return nil }
        return (isNegative ? -1 : 1) * (hours * 60 + minutes)
    }

    private mutating func digit() -> Int64? {
        guard index < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index])
        else { return nil }
        defer { index += 1 }
        return Int64(text[index] - UInt8(ascii: "0"))
    }
}

/// The values that receipts consist of. Each is nil where the bytes aren't one.
enum DERValues {
    /// A whole number of at most 64 bits, from two's complement with the highest byte first.
    static func integer(_ bytes: ArraySlice<UInt8>) -> Int64? {
        guard let first = bytes.first, bytes.count <= 8 else { return nil }
        var value: Int64 = first < 0x80 ? 0 : -1
        for byte in bytes { value = value << 8 | Int64(byte) }
        return value
    }

    /// What an octet string holds, be it in one piece or in several.
    static func octets(_ element: DERElement, in bytes: [UInt8]) throws(DERError) -> [UInt8] {
        switch element.tag {
        case DERElement.Tag.octetString: return Array(bytes[element.content])
        case DERElement.Tag.octetStrings:
            var octets: [UInt8] = []
            var reader = DERReader(bytes, element.content)
            while let piece = try reader.next() {
                // Pieces of pieces are allowed by the standard, but written by nobody.
                guard piece.tag == DERElement.Tag.octetString else { throw .malformed }
                octets += bytes[piece.content]
            }
            return octets
        default: throw .malformed
        }
    }

    /// Milliseconds since 1970 of an instant in RFC 3339, such as `2025-12-26T18:39:47Z`. Parts of
    /// a millisecond are cut off.
    static func instant(_ text: ArraySlice<UInt8>) -> Int64? {
        let text = Array(text)
        guard (20...instantBytesMax).contains(text.count),
            text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"),
            text[16] == UInt8(ascii: ":"),
            let year = number(text[0..<4]), let month = number(text[5..<7]),
            let day = number(text[8..<10]), let hour = number(text[11..<13]),
            let minute = number(text[14..<16]), let second = number(text[17..<19]),
            (1...12).contains(month), (1...daysOf(month, of: year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let fraction =
            text[19] == UInt8(ascii: ".") ? text[20...].prefix(while: isDigit) : text[19..<19]
        let zone = text[(fraction.isEmpty ? 19 : fraction.endIndex)...]
        guard let offset = offsetSeconds(zone) else { return nil }
        let seconds =
            days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        return seconds * 1000 + milliseconds(fraction)
    }

    private static let instantBytesMax = 40

    private static func milliseconds(_ fraction: ArraySlice<UInt8>) -> Int64 {
        var value: Int64 = 0
        for place in 0..<3 {
            let index = fraction.startIndex + place
            let digit = index < fraction.endIndex ? fraction[index] - UInt8(ascii: "0") : 0
            value = value * 10 + Int64(digit)
        }
        return value
    }

    /// Of `Z`, `+09:00` and the like.
    private static func offsetSeconds(_ zone: ArraySlice<UInt8>) -> Int64? {
        let zone = Array(zone)
        if zone == [UInt8(ascii: "Z")] { return 0 }
        guard zone.count == 6, zone[3] == UInt8(ascii: ":"),
            zone[0] == UInt8(ascii: "+") || zone[0] == UInt8(ascii: "-"),
            let hours = number(zone[1..<3]), let minutes = number(zone[4..<6]),
            hours < 24, minutes < 60
        else { return nil }
        let seconds = hours * 3600 + minutes * 60
        return zone[0] == UInt8(ascii: "+") ? seconds : -seconds
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.allSatisfy(isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func daysOf(_ month: Int64, of year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        switch month {
        case 2: return isLeap ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }

    /// Days since 1970-01-01 of the Gregorian calendar. Years are counted from March, so that the
    /// leap day is the last of one.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        // The year 0 begins in March of the year before it.
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }
}

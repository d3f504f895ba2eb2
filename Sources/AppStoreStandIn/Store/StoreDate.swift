import Base
import Glibc

/// Instants in the three forms that verifyReceipt writes each of them in.
enum StoreDate {
    /// Appends `name`, `name_ms` and `name_pst`. The last is the time in Los Angeles, whose name
    /// is wrong in summer.
    static func append(_ name: String, _ instant: Int64, to object: inout JSONObject) {
        let seconds = floorDivide(instant, 1000)
        let offset = offsetInLosAngeles(seconds)
        object.append(name, .string(text(seconds) + " Etc/GMT"))
        object.append(name + "_ms", .string(String(instant)))
        object.append(name + "_pst", .string(text(seconds + offset) + " America/Los_Angeles"))
    }

    /// Such as `2019-04-18 21:13:43`.
    static func text(_ seconds: Int64) -> String {
        var seconds = time_t(seconds)
        var date = unsafe tm()
        unsafe gmtime_r(&seconds, &date)
        var text = [CChar](repeating: 0, count: 32)
        let count = unsafe strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &date)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Since 2007: summer begins on March's second Sunday at 2:00 standard time, and ends on
    /// November's first at 2:00 summer time.
    static func offsetInLosAngeles(_ seconds: Int64) -> Int64 {
        let start = firstSunday(ofMonth: 3, inYearOf: seconds) + 7 * 86_400 + 10 * 3600
        let end = firstSunday(ofMonth: 11, inYearOf: seconds) + 9 * 3600
        return (start..<end).contains(seconds) ? -7 * 3600 : -8 * 3600
    }

    /// When it begins in UTC.
    private static func firstSunday(ofMonth month: Int32, inYearOf seconds: Int64) -> Int64 {
        var seconds = time_t(seconds)
        var date = unsafe tm()
        unsafe gmtime_r(&seconds, &date)
        unsafe (date.tm_mon, date.tm_mday) = (month - 1, 1)
        unsafe (date.tm_hour, date.tm_min, date.tm_sec) = (0, 0, 0)
        let first = unsafe Int64(timegm(&date))
        return unsafe first + Int64((7 - date.tm_wday) % 7) * 86_400
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}

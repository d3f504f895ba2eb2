import Base

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
        let (year, month, day) = date(floorDivide(seconds, 86_400))
        let time = seconds - floorDivide(seconds, 86_400) * 86_400
        func padded(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(year)-\(padded(month))-\(padded(day)) "
            + "\(padded(time / 3600)):\(padded(time / 60 % 60)):\(padded(time % 60))"
    }

    /// Since 2007: summer begins on March's second Sunday at 2:00 standard time, and ends on
    /// November's first at 2:00 summer time.
    static func offsetInLosAngeles(_ seconds: Int64) -> Int64 {
        let (year, _, _) = date(floorDivide(seconds, 86_400))
        let start = firstSunday(year, 3) + 7
        let end = firstSunday(year, 11)
        let isSummer = seconds >= start * 86_400 + 10 * 3600 && seconds < end * 86_400 + 9 * 3600
        return isSummer ? -7 * 3600 : -8 * 3600
    }

    /// In days since 1970-01-01, which was a Thursday.
    private static func firstSunday(_ year: Int64, _ month: Int64) -> Int64 {
        let first = days(year, month, 1)
        let weekday = (first + 4) - floorDivide(first + 4, 7) * 7
        return first + (7 - weekday) % 7
    }

    /// The day of the Gregorian calendar. Years are counted from March, so that the leap day is
    /// the last of one.
    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = floorDivide(year, 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}

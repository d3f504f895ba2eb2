import Base
import Testing

@testable import AppStoreStandIn

@Suite struct `Dates of verifyReceipt` {
    // All of them from genuine receipts, but for the leap day and the changes of the clock, which
    // were worked out with the date command.
    @Test(
        arguments: [
            (1_555_622_023_000, "2019-04-18 21:13:43", "2019-04-18 14:13:43"),
            (1_595_439_548_000, "2020-07-22 17:39:08", "2020-07-22 10:39:08"),
            (1_646_174_023_000, "2022-03-01 22:33:43", "2022-03-01 14:33:43"),
            (1_375_340_400_000, "2013-08-01 07:00:00", "2013-08-01 00:00:00"),
            (1_709_208_000_999, "2024-02-29 12:00:00", "2024-02-29 04:00:00"),
            (1_772_963_999_000, "2026-03-08 09:59:59", "2026-03-08 01:59:59"),
            (1_772_964_000_000, "2026-03-08 10:00:00", "2026-03-08 03:00:00"),
            (1_793_523_599_000, "2026-11-01 08:59:59", "2026-11-01 01:59:59"),
            (1_793_523_600_000, "2026-11-01 09:00:00", "2026-11-01 01:00:00"),
        ] as [(Int64, String, String)])
    func `have three forms`(instant: Int64, universal: String, pacific: String) {
        var object = JSONObject()
        StoreDate.append("purchase_date", instant, to: &object)
        #expect(
            JSON.object(object) == [
                "purchase_date": .string(universal + " Etc/GMT"),
                "purchase_date_ms": .string(String(instant)),
                "purchase_date_pst": .string(pacific + " America/Los_Angeles"),
            ])
    }
}

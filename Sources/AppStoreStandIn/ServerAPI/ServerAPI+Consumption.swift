import Base
import HTTPServer

extension ServerAPI {
    private static let percentages: ClosedRange<Int64> = 0...100_000
    private static let statuses: Set<String> = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM",
        "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
    ]
    private static let preferences: Set<String> = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]

    /// Send Consumption Information v2.
    func takeConsumption(_ call: ServerAPICall) throws(ServerAPIError) -> HTTPResponse {
        let body = try call.body([
            "customerConsented", "deliveryStatus", "sampleContentProvided",
            "consumptionPercentage", "refundPreference",
        ])
        guard body["customerConsented"] == true else { throw .customerConsented }
        guard let status = body["deliveryStatus"]?.string, ServerAPI.statuses.contains(status)
        else { throw .deliveryStatus }
        guard body["sampleContentProvided"]?.bool != nil else { throw .sampleContent }
        var percentage: Int64?
        if let value = body["consumptionPercentage"] {
            guard let whole = value.integer, ServerAPI.percentages.contains(whole) else {
                throw .bad("Invalid consumption percentage.")
            }
            percentage = whole
        }
        if percentage ?? 0 > 0, status != "DELIVERED" {
            throw .bad("What wasn't delivered can't be consumed.")
        }
        if let value = body["refundPreference"] {
            guard let preference = value.string, ServerAPI.preferences.contains(preference) else {
                throw .bad("Invalid refund preference.")
            }
            if preference == "GRANT_PRORATED", percentage ?? 0 == 0 {
                throw .bad("A prorated refund needs a consumption percentage above 0.")
            }
        }
        store.add(consumption: .object(body), of: try sale(call))
        return HTTPResponse(status: 202)
    }
}

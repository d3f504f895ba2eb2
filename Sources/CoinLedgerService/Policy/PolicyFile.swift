import Base
import CoinLedger

/// Reads a policy, every field of which but the version may be left out:
/// ```json
/// {"version": "2026-11", "consumption": "free_first",
///  "freeExpiry": {"days": 180, "timeZone": "Asia/Tokyo"},
///  "refundShortfall": "debt", "holdSeconds": 900, "holdSecondsMax": 86400}
/// ```
/// `"freeExpiry": null` lets free coins live for ever.
package enum PolicyFile {
    /// One sentence that says what is wrong and where.
    package struct Invalid: Error, Hashable, Sendable {
        package let reason: String
    }

    /// What applies where there is no file.
    package static let defaultText = #"{"version": "default-1"}"#

    private static let daysMax: Int64 = 36_500
    private static let holdSecondsLimit: Int64 = 30 * 86_400
    private static let fields = [
        "version", "consumption", "freeExpiry", "refundShortfall", "holdSeconds", "holdSecondsMax",
    ]

    package static func parse(_ bytes: [UInt8]) throws(Invalid) -> LedgerPolicy {
        let json: JSON
        do { json = try JSON.parse(bytes) } catch {
            throw Invalid(reason: "the policy isn't JSON: \(error)")
        }
        guard let object = json.object else { throw Invalid(reason: "the policy isn't an object") }
        for member in object.members where !fields.contains(member.name) {
            throw Invalid(reason: "the policy has an unknown field \(member.name)")
        }
        guard let version = object["version"]?.string, (1...255).contains(version.utf8.count) else {
            throw Invalid(reason: "the policy needs a text version of 1 to 255 bytes")
        }
        let longest = try seconds(object, "holdSecondsMax", fallback: 86_400)
        let usual = try seconds(object, "holdSeconds", fallback: min(900, longest))
        guard usual <= longest else {
            throw Invalid(reason: "holdSeconds is more than holdSecondsMax")
        }
        return LedgerPolicy(
            version: version,
            consumption: try choice(object, "consumption", fallback: .freeFirst),
            freeExpiry: try freeExpiry(object),
            refundShortfall: try choice(object, "refundShortfall", fallback: .debt),
            holdSeconds: usual, holdSecondsMax: longest)
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ object: JSONObject, _ name: String, fallback: Choice
    ) throws(Invalid) -> Choice {
        guard let value = object[name] else { return fallback }
        guard let choice = value.string.flatMap(Choice.init) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw Invalid(reason: "\(name) is none of \(names)")
        }
        return choice
    }

    private static func seconds(
        _ object: JSONObject, _ name: String, fallback: Int64
    ) throws(Invalid) -> Int64 {
        guard let value = object[name] else { return fallback }
        guard let seconds = value.integer, (1...holdSecondsLimit).contains(seconds) else {
            throw Invalid(reason: "\(name) isn't a number from 1 to \(holdSecondsLimit)")
        }
        return seconds
    }

    private static func freeExpiry(_ object: JSONObject) throws(Invalid) -> ExpiryRule? {
        var days: Int64 = 180
        var zone = "Asia/Tokyo"
        if let value = object["freeExpiry"] {
            if value == .null { return nil }
            guard let rule = value.object,
                rule.members.allSatisfy({ ["days", "timeZone"].contains($0.name) }),
                let stated = rule["days"]?.integer, (0...daysMax).contains(stated),
                let name = rule["timeZone"]?.string
            else {
                throw Invalid(
                    reason: "freeExpiry isn't {\"days\": 0 to \(daysMax), \"timeZone\": \"…\"}")
            }
            (days, zone) = (stated, name)
        }
        do throws(ZoneRules.Invalid) {
            return ExpiryRule(days: days, zone: try ZoneRules(name: zone))
        } catch {
            switch error {
            case .unknownZone:
                throw Invalid(reason: "the system knows no time zone \(zone); is tzdata installed?")
            case .unreadable: throw Invalid(reason: "the system's file of \(zone) can't be used")
            }
        }
    }
}

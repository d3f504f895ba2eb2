package import Base

/// Holds JSON values against the schemas of one OpenAPI document.
///
/// Knows the words that the document uses: `type`, `enum`, `required`, `properties`,
/// `additionalProperties: false`, `items`, `minItems`, `minimum`, `maximum`, `pattern`, `format`,
/// `allOf` and `$ref`. Any other word that asserts something is a finding, so that no schema is
/// believed to be checked that isn't.
package struct JSONSchema: Sendable {
    private let document: JSON

    private static let knownWords: Set<String> = [
        "type", "enum", "required", "properties", "additionalProperties", "items", "minItems",
        "minimum", "maximum", "pattern", "format", "allOf", "$ref", "description", "examples",
        "default",
    ]

    package init(document: JSON) { self.document = document }

    /// One line for each deviation of `value` from `schema`.
    package func findings(_ value: JSON, _ schema: JSON, at place: String = "$") -> [String] {
        guard let words = schema.object else { return ["\(place): the schema isn't an object"] }
        var findings: [String] = []
        for word in words.members {
            guard JSONSchema.knownWords.contains(word.name) else {
                findings.append("\(place): the word \(word.name) isn't known")
                continue
            }
            findings += check(value, word, place)
        }
        return findings
    }

    private func check(_ value: JSON, _ word: JSONObject.Member, _ place: String) -> [String] {
        func expect(_ holds: Bool) -> [String] {
            holds
                ? [] : ["\(place): \(word.name) of \(String(decoding: value.bytes, as: UTF8.self))"]
        }
        switch word.name {
        case "$ref":
            guard let target = resolve(word.value.string ?? "") else {
                return ["\(place): \(word.value) leads nowhere"]
            }
            return findings(value, target, at: place)
        case "allOf":
            return (word.value.array ?? []).flatMap { findings(value, $0, at: place) }
        case "type": return expect(types(word.value).contains { value.isOfType($0) })
        case "enum": return expect(word.value.array?.contains(value) ?? false)
        case "minimum": return expect((value.integer ?? .max) >= word.value.integer ?? .max)
        case "maximum": return expect((value.integer ?? .min) <= word.value.integer ?? .min)
        case "minItems":
            return expect(value.array.map { $0.count >= word.value.integer ?? 0 } ?? true)
        case "pattern", "format":
            guard let text = value.string else { return [] }
            return expect(TextRule.holds(word.value.string ?? "", text))
        case "required":
            let names = (word.value.array ?? []).compactMap(\.string)
            return names.filter { value.object != nil && value[$0] == nil }
                .map { "\(place): \($0) is missing" }
        default: return checkMembers(value, word, place)
        }
    }

    private func checkMembers(
        _ value: JSON, _ word: JSONObject.Member, _ place: String
    ) -> [String] {
        switch word.name {
        case "properties":
            return (value.object?.members ?? []).flatMap { member in
                word.value[member.name].map {
                    findings(member.value, $0, at: "\(place).\(member.name)")
                } ?? []
            }
        case "items":
            return (value.array ?? []).enumerated().flatMap { index, item in
                findings(item, word.value, at: "\(place)[\(index)]")
            }
        case "additionalProperties":
            return word.value == false ? [] : ["\(place): only false is known here"]
        default: return []
        }
    }

    private func types(_ value: JSON) -> [String] {
        value.string.map { [$0] } ?? (value.array ?? []).compactMap(\.string)
    }

    private func resolve(_ reference: String) -> JSON? {
        guard reference.hasPrefix("#/") else { return nil }
        var found = document
        for name in reference.dropFirst(2).split(separator: "/") {
            guard let next = found[String(name)] else { return nil }
            found = next
        }
        return found
    }
}

extension JSON {
    fileprivate func isOfType(_ name: String) -> Bool {
        switch (self, name) {
        case (.null, "null"), (.bool, "boolean"), (.integer, "integer"), (.integer, "number"),
            (.decimal, "number"), (.string, "string"), (.array, "array"), (.object, "object"):
            true
        default: false
        }
    }
}

/// The few patterns and formats that the document uses.
private enum TextRule {
    static func holds(_ name: String, _ text: String) -> Bool {
        let bytes = Array(text.utf8)
        switch name {
        case "^[A-Za-z0-9._:-]{1,64}$":
            return (1...64).contains(bytes.count)
                && bytes.allSatisfy { isLetter($0) || isDigit($0) || "._:-".utf8.contains($0) }
        case "^[0-9a-f]{64}$":
            return bytes.count == 64
                && bytes.allSatisfy { isDigit($0) || "abcdef".utf8.contains($0) }
        case "^[0-9]+-[0-9]+$":
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            return parts.count == 2
                && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }
        case "uuid":
            return bytes.count == 36
                && bytes.enumerated().allSatisfy { index, byte in
                    [8, 13, 18, 23].contains(index)
                        ? byte == UInt8(ascii: "-") : isDigit(byte) || isLetter(byte)
                }
        case "date-time":
            // Such as 2026-11-30T14:34:00.000Z.
            return zip(bytes, "0000-00-00T00:00:00.000Z".utf8).allSatisfy { byte, model in
                model == UInt8(ascii: "0") ? isDigit(byte) : byte == model
            } && bytes.count == 24
        case "uri": return text.hasPrefix("urn:") && text.utf8.count > 4
        default: return false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

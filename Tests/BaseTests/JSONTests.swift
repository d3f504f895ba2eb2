import Base
import Testing

@Suite struct `Reading JSON` {
    @Test(arguments: [
        (
            #"{"a":1,"b":[true,null,"x\n\u00e9\ud83d\ude00"]}"#,
            ["a": 1, "b": [true, nil, "x\n\u{e9}\u{1F600}"]] as JSON
        ),
        ("-9223372036854775808", .integer(.min)),
        ("9223372036854775808", .decimal("9223372036854775808")),
        ("1.5e3", .decimal("1.5e3")),
        (" [ ] ", .array([])),
    ])
    func `a text becomes its value`(text: String, value: JSON) throws {
        #expect(try JSON.parse(Array(text.utf8)) == value)
    }

    @Test(arguments: [
        "", "{", "[1,]", "01", "1.", "+1", "nul", "\"\u{01}\"", "{\"a\":1,\"a\":2}", "[1] 2",
        #""\ud800""#, #"{"a" 1}"#, "'a'", "NaN", "--1", #""\x""#,
    ])
    func `anything else is refused`(text: String) {
        #expect(throws: JSONError.self) { try JSON.parse(Array(text.utf8)) }
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: JSONError.notUTF8(offset: 1)) { try JSON.parse([0x22, 0xFF, 0x22]) }
    }

    /// Long texts are looked at eight bytes at a time.
    @Test func `what ends, escapes or breaks a text does so wherever it stands`() {
        for place in 0..<40 {
            let (before, after) = (
                String(repeating: "x", count: place), String(repeating: "y", count: 40 - place)
            )
            func parsed(_ middle: String) -> JSON? {
                try? JSON.parse(Array("\"\(before)\(middle)\(after)\"".utf8))
            }
            #expect(parsed("é") == .string("\(before)é\(after)"))
            #expect(parsed(#"\n"#) == .string("\(before)\n\(after)"))
            #expect(parsed("\u{7F}") == .string("\(before)\u{7F}\(after)"))
            #expect(parsed("\"") == nil)
            #expect(parsed("\u{1F}") == nil)
            let broken = Array("\"\(before)".utf8) + [0xFF] + Array("\(after)\"".utf8)
            #expect(throws: JSONError.notUTF8(offset: 1)) { try JSON.parse(broken) }
        }
    }

    /// Few names are compared in pairs, and many looked for in a set.
    @Test(arguments: [2, 20, 32, 33, 200])
    func `no name comes twice, wherever it stands`(count: Int) throws {
        let names = (0..<count).map { "member\($0)" }
        func parsed(_ names: [String]) throws(JSONError) -> JSON {
            let members = names.map { "\"\($0)\":1" }.joined(separator: ",")
            return try JSON.parse(Array("{\(members)}".utf8))
        }
        #expect(try parsed(names).object?.members.count == count)
        for place in 0..<(count - 1) {
            #expect(throws: JSONError.duplicateName(names[place])) {
                try parsed(names.dropLast() + [names[place]])
            }
        }
        #expect(throws: JSONError.duplicateName("")) { try parsed(["", "a", ""]) }
    }

    @Test func `nesting is limited`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(
                (String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(throws: Never.self) { try JSON.parse(nested(JSON.depthMax)) }
        #expect(throws: JSONError.tooDeep(offset: JSON.depthMax)) {
            try JSON.parse(nested(JSON.depthMax + 1))
        }
    }

    @Test func `what is written reads the same`() throws {
        let value: JSON = [
            "text": "\u{0}\u{1f}\"\\/\n\u{2028}", "number": .integer(.min),
            "list": [.array([]), [:], nil],
        ]
        #expect(try JSON.parse(value.bytes) == value)
    }

    @Test func `what is written may be long`() {
        // More than a writer starts with, in one piece and in many.
        let text = String(repeating: "é\"", count: 1500)
        let escaped = String(repeating: "é\\\"", count: 1500)
        let numbers = [JSON](repeating: .integer(-1_234_567_890), count: 300)
        let list = [String](repeating: "-1234567890", count: 300).joined(separator: ",")
        let value: JSON = ["text": .string(text), "list": .array(numbers)]
        #expect(value.bytes == Array("{\"text\":\"\(escaped)\",\"list\":[\(list)]}".utf8))
    }
}

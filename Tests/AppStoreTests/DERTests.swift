import Testing

@testable import AppStore

@Suite struct `Reading ASN_1` {
    private func first(_ bytes: [UInt8]) throws -> DERElement? {
        var reader = DERReader(bytes)
        return try reader.next()
    }

    @Test(
        arguments: [
            ([0x02, 0x01, 0x05], 0x02, 2..<3), ([0x31, 0x00], 0x31, 2..<2),
            ([0x04, 0x81, 0x01, 0xAA], 0x04, 3..<4), ([0x04, 0x84, 0, 0, 0, 1, 0xAA], 0x04, 6..<7),
            ([0x30, 0x80, 0x05, 0x00, 0x00, 0x00], 0x30, 2..<4), ([0x30, 0x80, 0, 0], 0x30, 2..<2),
            ([0x30, 0x80, 0x30, 0x80, 0, 0, 0, 0], 0x30, 2..<6), ([0xA0, 0x01, 0x00], 0xA0, 2..<3),
        ] as [([UInt8], UInt8, Range<Int>)])
    func `finds where content lies`(bytes: [UInt8], tag: UInt8, content: Range<Int>) throws {
        #expect(try first(bytes) == DERElement(tag: tag, content: content))
    }

    @Test(
        arguments: [
            [0x02], [0x02, 0x01], [0x02, 0x81], [0x02, 0x82, 0x01], [0x02, 0x02, 0x00],
            [0x04, 0x85, 0, 0, 0, 0, 0], [0x04, 0xFF], [0x04, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x04, 0x80, 0, 0], [0x1F, 0x01, 0x00], [0x00, 0x00], [0x30, 0x80], [0x30, 0x80, 0],
            [0x30, 0x80, 0x04, 0x00], [0x30, 0x80, 0x04, 0x05, 0, 0],
        ] as [[UInt8]])
    func `refuses what isn't complete`(bytes: [UInt8]) {
        #expect(throws: DERError.malformed) { try first(bytes) }
    }

    @Test func `doesn't follow nesting without end`() {
        let open = [[UInt8]](repeating: [0x30, 0x80], count: 100_000).flatMap(\.self)
        #expect(throws: DERError.tooComplex) { try first(open) }
        var closed: [UInt8] = []
        for _ in 0..<30 { closed = [0x30, UInt8(closed.count)] + closed }
        #expect(throws: DERError.tooComplex) { try DERReader.check(closed, elementsMax: 1000) }
        #expect(throws: DERError.tooComplex) {
            try DERReader.check([0x30, 0x06, 5, 0, 5, 0, 5, 0], elementsMax: 3)
        }
    }

    @Test func `looks at everything inside`() throws {
        try DERReader.check([0x30, 0x06, 5, 0, 5, 0, 5, 0], elementsMax: 4)
        for bytes: [UInt8] in [
            [], [0x30, 0x02, 0x05, 0x01], [0x05, 0x00, 0x00], [0x30, 0x01, 5],
        ] {
            #expect(throws: DERError.malformed) { try DERReader.check(bytes, elementsMax: 100) }
        }
        // What a primitive holds is its own business.
        try DERReader.check([0x04, 0x02, 0x30, 0x7F], elementsMax: 1)
    }

    @Test(
        arguments: [
            ([0x00], 0), ([0x7F], 127), ([0x80], -128), ([0x00, 0xFF], 255), ([0xFF], -1),
            ([0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .max),
            ([0x80, 0, 0, 0, 0, 0, 0, 0], .min), ([], nil), ([0, 0, 0, 0, 0, 0, 0, 0, 1], nil),
        ] as [([UInt8], Int64?)])
    func `reads whole numbers`(bytes: [UInt8], value: Int64?) {
        #expect(DERValues.integer(bytes[...]) == value)
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-30T14:34:00Z", 1_796_049_240_000),
            ("2026-11-30T23:34:00+09:00", 1_796_049_240_000),
            ("2026-11-30T14:04:00-00:30", 1_796_049_240_000),
            ("2026-11-30T14:34:00.5Z", 1_796_049_240_500),
            ("2026-11-30T14:34:00.123999Z", 1_796_049_240_123),
            ("2024-02-29T00:00:00Z", 1_709_164_800_000),
            ("4001-01-01T00:00:00Z", 64_092_211_200_000),
            ("1969-12-31T23:59:59Z", -1000), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("2025-02-29T00:00:00Z", nil), ("1900-02-29T00:00:00Z", nil),
            ("2026-11-31T00:00:00Z", nil), ("2026-13-01T00:00:00Z", nil),
            ("2026-00-01T00:00:00Z", nil), ("2026-11-30T24:00:00Z", nil),
            ("2026-11-30T14:60:00Z", nil), ("2026-11-30T14:34:60Z", nil),
            ("2026-11-30T14:34:00", nil), ("2026-11-30 14:34:00Z", nil),
            ("2026-11-30T14:34:00.Z", nil),
            ("2026-11-30T14:34:00z", nil), ("2026-11-30T14:34:00+0900", nil),
            ("2026-11-30T14:34:00+24:00", nil), ("+026-11-30T14:34:00Z", nil), ("", nil),
            ("2026-11-30T14:34:00.00000000000000000000000000Z", nil),
        ] as [(String, Int64?)])
    func `reads instants`(text: String, value: Int64?) {
        #expect(DERValues.instant(Array(text.utf8)[...]) == value)
    }
}

import Base

/// Where a page of a list ended, as a text that means something to this service only.
///
/// It's bound to its list, that is, to what was listed and by which filter: another list refuses it
/// instead of going on at a place that means nothing there.
package struct Cursor: Hashable, Sendable {
    /// The number of the page's last element; the next page begins above it.
    package let position: Int64
    private let list: UInt64

    private static let format: UInt8 = 1
    private static let byteCount = 17

    /// - Parameter list: everything that makes the list what it is, but for the length of a page.
    package init(position: Int64, of list: String) {
        self.position = position
        self.list = Cursor.hash(list)
    }

    /// Reads the cursor of a request, which must be one of this list.
    package init(_ text: String, of list: String) throws(InvalidRequest) {
        guard let bytes = Base64.decode(text, .url), bytes.count == Cursor.byteCount,
            bytes[0] == Cursor.format, Cursor.number(bytes[1..<9]) == Cursor.hash(list),
            let position = Int64(exactly: Cursor.number(bytes[9...]))
        else {
            throw InvalidRequest(
                Problem(.invalidCursor, "The cursor isn't one of this list.", detail: "after"))
        }
        self.init(position: position, of: list)
    }

    package var text: String {
        let numbers = [list, UInt64(max(0, position))].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
        }
        return Base64.encode([Cursor.format] + numbers, .url)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// FNV-1a. It keeps mistakes apart, and nothing that anybody could gain by forging.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

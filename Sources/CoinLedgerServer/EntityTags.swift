/// The entity tags of `If-None-Match` (RFC 9110, section 13.1.2), compared weakly.
struct EntityTags {
    private let tags: [Substring]

    init(_ lines: [String]) {
        tags = lines.flatMap { $0.split(separator: ",") }.map { $0.trimmingSpaces() }
    }

    func contain(_ tag: String) -> Bool {
        tags.contains { $0 == "*" || $0 == tag || $0 == "W/\(tag)" }
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> Substring {
        let start = firstIndex { $0 != " " && $0 != "\t" } ?? endIndex
        let end = lastIndex { $0 != " " && $0 != "\t" }
        return end.map { self[start...$0] } ?? ""
    }
}

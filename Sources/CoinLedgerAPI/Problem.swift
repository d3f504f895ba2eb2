package import Base

/// An error as it's answered: RFC 9457, `application/problem+json`.
///
/// ```json
/// {"type": "urn:coinledger:problem:unknown_product", "title": "…", "status": 422,
///  "code": "unknown_product", "retryable": true, "transactions": […]}
/// ```
package struct Problem: Sendable {
    package let code: ProblemCode
    /// One sentence without data.
    package let title: String
    /// Names the field, parameter or method that is wrong, if one is.
    package let detail: String?
    /// Further members, such as `transactions`.
    package let members: [JSONObject.Member]

    package static let mediaType = "application/problem+json"

    package init(
        _ code: ProblemCode, _ title: String, detail: String? = nil,
        members: [JSONObject.Member] = []
    ) {
        self.code = code
        self.title = title
        self.detail = detail
        self.members = members
    }

    package var json: JSON {
        var object = JSONObject([
            .init("type", .string("urn:coinledger:problem:\(code.code)")),
            .init("title", .string(title)),
            .init("status", .integer(Int64(code.status))),
            .init("code", .string(code.code)),
            .init("retryable", .bool(code.isRetryable)),
        ])
        object.append("detail", detail.map(JSON.string))
        for member in members { object.append(member.name, member.value) }
        return .object(object)
    }
}

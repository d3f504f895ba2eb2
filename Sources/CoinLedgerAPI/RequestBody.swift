import Base

/// The fields of a request's JSON object, each of which must be known.
package struct RequestBody: Sendable {
    private let object: JSONObject

    /// - Throws: a `Problem` that names what is wrong.
    package init(_ bytes: [UInt8], fields: [String]) throws(InvalidRequest) {
        let json: JSON
        do throws(JSONError) {
            json = try JSON.parse(bytes)
        } catch {
            throw InvalidRequest(Problem(.malformedJSON, error.sentence))
        }
        guard let object = json.object else {
            throw InvalidRequest(Problem(.invalidBody, "The body must be a JSON object."))
        }
        for member in object.members where !fields.contains(member.name) {
            throw InvalidRequest(
                Problem(
                    .invalidBody, "The body has a field that isn't known here.",
                    detail: member.name))
        }
        self.object = object
    }

    package func string(_ name: String) throws(InvalidRequest) -> String {
        guard let value = object[name] else {
            throw InvalidRequest(
                Problem(.invalidBody, "The body lacks a required field.", detail: name))
        }
        guard let text = value.string else {
            throw InvalidRequest(Problem(.invalidBody, "The field must be a text.", detail: name))
        }
        return text
    }
}

/// A request that can't be acted on, and what to answer.
package struct InvalidRequest: Error, Sendable {
    package let problem: Problem

    package init(_ problem: Problem) { self.problem = problem }
}

extension JSONError {
    fileprivate var sentence: String {
        switch self {
        case .syntax(let offset): "The body isn't JSON; see byte \(offset)."
        case .notUTF8(let offset): "The body isn't UTF-8; see byte \(offset)."
        case .duplicateName: "The body has one field twice."
        case .tooDeep: "The body is nested too deeply."
        }
    }
}

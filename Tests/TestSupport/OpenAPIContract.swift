package import Base

/// What an OpenAPI document promises of answers.
package struct OpenAPIContract: Sendable {
    package let document: JSON
    private let schema: JSONSchema

    /// Refusals of the HTTP server itself, which any request may meet and no operation lists.
    private static let anywhere: Set<Int> = [
        400, 404, 405, 408, 413, 414, 417, 431, 500, 501, 503, 505,
    ]

    package init(_ document: JSON) {
        self.document = document
        schema = JSONSchema(document: document)
    }

    /// One line for each way in which `answer` isn't what the document says of `method` and `path`.
    package func findings(_ method: String, _ path: String, _ answer: HTTPAnswer) -> [String] {
        guard let responses = operation(method, path)?["responses"],
            let response = responses["\(answer.status)"]
        else { return general(answer) }
        guard let content = response["content"]?.object?.members.first else {
            return answer.body.isEmpty ? [] : ["\(answer.status) has a body"]
        }
        if method == "HEAD" { return [] }
        var findings: [String] = []
        let type = answer["Content-Type"]?.split(separator: ";").first.map(String.init)
        if type != content.name { findings.append("the type is \(type ?? "missing")") }
        for header in response["headers"]?.object?.members ?? []
        where answer[header.name] == nil && header.value["required"] != false {
            findings.append("\(header.name) is missing")
        }
        if content.name == "application/x-ndjson" {
            return findings + lineFindings(answer, content.value["schema"] ?? .null)
        }
        guard content.name.hasSuffix("json") else { return findings }
        return findings + schema.findings(answer.json, content.value["schema"] ?? .null)
            + problemFindings(answer)
    }

    /// One JSON value a line.
    private func lineFindings(_ answer: HTTPAnswer, _ schema: JSON) -> [String] {
        answer.text.split(separator: "\n").flatMap { line in
            let value = (try? JSON.parse(Array(line.utf8))) ?? .null
            return self.schema.findings(value, schema)
        }
    }

    /// What holds for answers that no operation lists.
    private func general(_ answer: HTTPAnswer) -> [String] {
        guard Self.anywhere.contains(answer.status) else {
            return ["\(answer.status) isn't documented"]
        }
        if answer.body.isEmpty { return [] }
        let problem = document["components"]?["schemas"]?["Problem"] ?? .null
        return schema.findings(answer.json, problem) + problemFindings(answer)
    }

    private func problemFindings(_ answer: HTTPAnswer) -> [String] {
        guard answer.status >= 400 else { return [] }
        var findings: [String] = []
        if answer.json["status"]?.integer != Int64(answer.status) {
            findings.append("the status inside is another one")
        }
        if answer.json["type"]?.string != "urn:coinledger:problem:\(answer.code ?? "")" {
            findings.append("type and code differ")
        }
        return findings
    }

    private func operation(_ method: String, _ path: String) -> JSON? {
        let path = path.prefix { $0 != "?" }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let entry = document["paths"]?.object?.members.first { entry in
            let pattern = entry.name.split(separator: "/", omittingEmptySubsequences: false)
            return pattern.count == parts.count
                && zip(pattern, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        return entry?.value[method == "HEAD" ? "get" : method.lowercased()]
    }
}

/// The values of a command's options: flags first, then the environment, then the fall-backs.
struct Settings {
    private let options: [Option]
    private let environment: [String: String]
    private var given: [String: [String]] = [:]
    /// What isn't a flag, in its order.
    private(set) var words: [String] = []

    init(
        _ arguments: [String], options: [Option], environment: [String: String]
    ) throws(UsageError) {
        self.options = options
        self.environment = environment
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                words.append(argument)
                continue
            }
            let parts = argument.dropFirst(2).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = options.first(where: { $0.flag == name }) else {
                throw UsageError("unknown option --\(name)")
            }
            var value = parts.count == 2 ? String(parts[1]) : nil
            if option.placeholder == nil {
                guard value == nil else { throw UsageError("\(option.name) takes no value") }
                value = "true"
            }
            guard let value = value ?? rest.popFirst() else {
                throw UsageError("\(option.name) needs a value")
            }
            guard given[name] == nil || option.isRepeatable else {
                throw UsageError("\(option.name) is given twice")
            }
            given[name, default: []].append(value)
        }
    }

    /// The values of an option; a variable holds several with colons between.
    func values(_ option: Option) -> [String] {
        if let flag = option.flag, let values = given[flag] { return values }
        if let variable = option.variable, let text = environment[variable], !text.isEmpty {
            return option.isRepeatable ? text.split(separator: ":").map(String.init) : [text]
        }
        return option.fallback.map { [$0] } ?? []
    }

    func isFromFlag(_ option: Option) -> Bool { option.flag.map { given[$0] != nil } ?? false }

    func optional(_ option: Option) -> String? { values(option).first }

    func required(_ option: Option) throws(UsageError) -> String {
        guard let value = optional(option) else {
            let variable = option.variable.map { option.flag == nil ? "" : " or \($0)" } ?? ""
            throw UsageError("\(option.name)\(variable) is missing: \(option.help)")
        }
        return value
    }

    func isOn(_ option: Option) throws(UsageError) -> Bool {
        switch optional(option) {
        case nil, "false", "0": false
        case "true", "1": true
        case .some(let text): throw UsageError("\(option.name): \(text) is neither true nor false")
        }
    }

    func integer(_ option: Option, in range: ClosedRange<Int64>) throws(UsageError) -> Int64 {
        let text = try required(option)
        guard let value = Int64(text), range.contains(value) else {
            throw UsageError(
                "\(option.name): \(text) isn't a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound)")
        }
        return value
    }
}

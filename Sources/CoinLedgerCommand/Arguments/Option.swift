/// One thing that can be set: by a flag, by an environment variable, or both.
struct Option: Sendable {
    /// Without its two dashes; nil for what may not stand in process arguments.
    let flag: String?
    /// What stands for the value in the help; nil for a switch.
    let placeholder: String?
    let variable: String?
    let fallback: String?
    let help: String
    let isRepeatable: Bool

    init(
        _ flag: String?, _ placeholder: String? = nil, variable: String? = nil,
        fallback: String? = nil, isRepeatable: Bool = false, help: String
    ) {
        self.flag = flag
        self.placeholder = placeholder
        self.variable = variable
        self.fallback = fallback
        self.isRepeatable = isRepeatable
        self.help = help
    }

    /// How a person calls it.
    var name: String { flag.map { "--\($0)" } ?? variable ?? "" }
}

/// A mistake of whoever starts the program: one line that names it.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

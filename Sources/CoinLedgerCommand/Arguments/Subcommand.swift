/// One thing that `coinledger` does.
struct Subcommand: Sendable {
    let name: String
    /// What follows the name on the command line, for the help.
    let usage: String
    let summary: String
    /// Further paragraphs of its help.
    let discussion: String
    let options: [Option]
    let wordCountMax: Int
    /// Returns the exit status.
    let run: @Sendable (Settings) throws -> Int32

    init(
        _ name: String, usage: String = "", summary: String, discussion: String = "",
        options: [Option] = [], wordCountMax: Int = 0,
        run: @escaping @Sendable (Settings) throws -> Int32
    ) {
        self.name = name
        self.usage = usage
        self.summary = summary
        self.discussion = discussion
        self.options = options
        self.wordCountMax = wordCountMax
        self.run = run
    }

    var help: String {
        var text = "coinledger \(name)\(usage.isEmpty ? "" : " \(usage)")\n\n\(summary)\n"
        if !discussion.isEmpty { text += "\n\(discussion)\n" }
        guard !options.isEmpty else { return text }
        text += "\nOptions:\n"
        for option in options {
            let value = option.placeholder.map { " \($0)" } ?? ""
            text += "  \(option.name)\(value)\n      \(option.help)\n"
            if option.flag != nil, let variable = option.variable {
                text += "      Environment: \(variable)\n"
            }
            if let fallback = option.fallback { text += "      Default: \(fallback)\n" }
        }
        return text
    }
}

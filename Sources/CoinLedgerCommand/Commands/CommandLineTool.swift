import Base
import Glibc

/// Finds the subcommand and runs it.
enum CommandLineTool {
    static let subcommands = [
        ServeCommand.subcommand, DevCommand.subcommand, DemoCommand.subcommand,
        MigrateCommand.subcommand, KeysCommand.subcommand, ExpireCommand.subcommand,
        AuditCommand.subcommand, AppStoreCommand.subcommand,
    ]

    /// EX_USAGE of sysexits.h.
    private static let usageStatus: Int32 = 64

    /// - Returns: the status to exit with.
    static func run(_ arguments: [String], environment: [String: String]) -> Int32 {
        guard let name = arguments.first else {
            Output.error(overview)
            return usageStatus
        }
        if name == "help" || name == "--help" || name == "-h" {
            return help(arguments.dropFirst().first)
        }
        guard let subcommand = subcommands.first(where: { $0.name == name }) else {
            Output.error("coinledger: unknown command \(name); see coinledger help\n")
            return usageStatus
        }
        if arguments.contains("--help") || arguments.contains("-h") { return help(name) }
        do {
            let settings = try Settings(
                Array(arguments.dropFirst()), options: subcommand.options,
                environment: environment)
            guard settings.words.count <= subcommand.wordCountMax else {
                throw UsageError("\(settings.words[subcommand.wordCountMax]) is one word too many")
            }
            return try subcommand.run(settings)
        } catch let error as UsageError {
            Output.error("coinledger \(name): \(error)\n")
            return usageStatus
        } catch {
            Output.error("coinledger \(name): \(error)\n")
            return 1
        }
    }

    private static func help(_ name: String?) -> Int32 {
        guard let name else {
            Output.print(overview)
            return 0
        }
        guard let subcommand = subcommands.first(where: { $0.name == name }) else {
            Output.error("coinledger: unknown command \(name)\n")
            return usageStatus
        }
        Output.print(subcommand.help)
        return 0
    }

    private static var overview: String {
        let width = subcommands.map(\.name.count).max() ?? 0
        let lines = subcommands.map { subcommand in
            let pad = String(repeating: " ", count: width - subcommand.name.count)
            return "  \(subcommand.name)\(pad)  \(subcommand.summary)\n"
        }
        return """
            coinledger COMMAND [OPTIONS]

            The backend that turns purchases into coins, exactly once.

            \(lines.joined())
            coinledger help COMMAND says more.

            """
    }
}

/// Writes to the terminal at once.
enum Output {
    static func print(_ text: String) { write(text, to: STDOUT_FILENO) }
    static func error(_ text: String) { write(text, to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}

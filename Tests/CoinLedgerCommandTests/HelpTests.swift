import Testing

@testable import CoinLedgerCommand

@Suite struct `The help of a command` {
    static let names = CommandLineTool.subcommands.map(\.name)

    @Test func `exists for each of them`() {
        #expect(
            Self.names.sorted() == [
                "app-store", "audit", "demo", "dev", "expire", "keys", "migrate", "serve",
            ])
    }

    @Test(arguments: CommandLineTool.subcommands)
    func `names every option, its variable and what is usual`(subcommand: Subcommand) {
        let help = subcommand.help
        #expect(help.hasPrefix("coinledger \(subcommand.name)"))
        for option in subcommand.options {
            #expect(help.contains("\n  \(option.name)"))
            #expect(help.contains(option.help))
            if let variable = option.variable { #expect(help.contains(variable)) }
            if let fallback = option.fallback { #expect(help.contains("Default: \(fallback)\n")) }
        }
    }

    @Test(arguments: CommandLineTool.subcommands)
    func `uses each name once`(subcommand: Subcommand) {
        let names = subcommand.options.map(\.name)
        #expect(Set(names).count == names.count)
        let variables = subcommand.options.compactMap(\.variable)
        #expect(variables.allSatisfy { $0.hasPrefix("COINLEDGER_") })
    }

    @Test func `offers no flag for a secret`() {
        let options = CommandLineTool.subcommands.flatMap(\.options)
        let secrets = options.filter { $0.variable?.contains("SECRET") == true }
        #expect(secrets.count == 1)
        #expect(secrets.allSatisfy { $0.flag == nil && $0.fallback == nil })
    }
}

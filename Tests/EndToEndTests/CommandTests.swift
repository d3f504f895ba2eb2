import Base
import PrivatePostgres
import TestSupport
import Testing

/// The program as a person calls it.
@Suite(.timeLimit(.minutes(15))) struct `The command line` {
    @Test(arguments: ["serve", "dev", "demo", "migrate", "keys", "expire", "audit", "app-store"])
    func `explains each command in the same way`(name: String) async throws {
        try await blocking {
            let help = try Program.run(["help", name])
            #expect(help.exit == .code(0))
            #expect(help.output.hasPrefix("coinledger \(name)"))
            for arguments in [[name, "--help"], [name, "-h"], [name, "--nonsense", "--help"]] {
                let other = try Program.run(arguments)
                #expect(other.exit == .code(0), "\(arguments)")
                #expect(other.output == help.output, "\(arguments)")
            }
        }
    }

    @Test func `lists its commands`() async throws {
        try await blocking {
            let help = try Program.run(["--help"])
            #expect(help.exit == .code(0))
            for name in ["serve", "dev", "demo", "migrate", "keys", "expire", "audit"] {
                #expect(help.output.contains("\n  \(name) "))
            }
            #expect(try Program.run(["help"]).output == help.output)
            let none = try Program.run([])
            #expect(none.exit == .code(64))
            #expect(none.output == help.output)
        }
    }

    struct Mistake: Sendable {
        let arguments: [String]
        let naming: String
        var environment: [String: String] = [:]
    }

    static let database = ["COINLEDGER_DATABASE_URL": "postgresql:///x?host=/nowhere"]

    static let mistakes = [
        Mistake(arguments: ["fly"], naming: "fly"),
        Mistake(arguments: ["help", "fly"], naming: "fly"),
        Mistake(arguments: ["serve", "--prot", "1"], naming: "--prot"),
        Mistake(arguments: ["serve", "here"], naming: "here"),
        Mistake(arguments: ["serve", "--listen", "8080"], naming: "--listen"),
        Mistake(arguments: ["serve", "--listen"], naming: "--listen"),
        Mistake(arguments: ["serve", "--listen", "a:1", "--listen", "b:1"], naming: "--listen"),
        Mistake(arguments: ["dev", "--listen", "x"], naming: "--listen"),
        Mistake(arguments: ["dev", "--store-listen", "x"], naming: "--store-listen"),
        Mistake(arguments: ["dev", "--catalogue", "/nowhere"], naming: "/nowhere"),
        Mistake(arguments: ["dev", "--sandbox", "mix"], naming: "--sandbox"),
        Mistake(arguments: ["dev", "--log-level", "loud"], naming: "--log-level"),
        Mistake(arguments: ["dev", "--policy", "/nowhere"], naming: "/nowhere"),
        Mistake(arguments: ["audit"], naming: "--database-url"),
        Mistake(arguments: ["expire"], naming: "--database-url"),
        Mistake(arguments: ["migrate"], naming: "COINLEDGER_DATABASE_URL"),
        Mistake(
            arguments: ["migrate", "--lanes", "0"], naming: "--lanes", environment: database),
        Mistake(
            arguments: ["migrate", "--lanes", "1025"], naming: "--lanes", environment: database),
        Mistake(
            arguments: ["audit", "--database-url", "postgresql://u:p@h/d"],
            naming: "--database-url"),
        Mistake(
            arguments: ["audit", "--database-url", "host=h password=p"], naming: "--database-url"),
        Mistake(
            arguments: ["audit"], naming: "--database-url",
            environment: ["COINLEDGER_DATABASE_URL": "postgresql://hidden-word:x@[/"]),
        Mistake(arguments: ["keys"], naming: "create, list or revoke"),
        Mistake(arguments: ["keys", "make"], naming: "make"),
        Mistake(arguments: ["keys", "revoke"], naming: "revoke"),
        Mistake(
            arguments: ["keys", "create", "--scopes", "read"], naming: "--name",
            environment: database),
        Mistake(
            arguments: ["keys", "create", "--name", "x", "--scopes", "write"], naming: "--scopes",
            environment: database),
        Mistake(
            arguments: ["keys", "create", "--name", "a\nb", "--scopes", "read"], naming: "--name",
            environment: database),
    ]

    @Test(arguments: mistakes)
    func `answers a mistake with one line that names it`(mistake: Mistake) async throws {
        let run = try await blocking {
            try Program.run(mistake.arguments, environment: mistake.environment)
        }
        #expect(run.exit == .code(64))
        #expect(run.output.split(separator: "\n").count == 1, "\(run.output)")
        #expect(run.output.hasPrefix("coinledger"))
        #expect(run.output.contains(mistake.naming), "\(run.output)")
        #expect(!run.output.contains("hidden-word"))
    }
}

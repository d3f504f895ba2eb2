import CoinLedgerService
import EventStore
import PostgresEventStore

/// `coinledger keys`
enum KeysCommand {
    private static let name = Option(
        "name", "NAME", help: "Says whose key it is, for keys list.")
    private static let scopes = Option(
        "scopes", "SCOPE,SCOPE…",
        help: "What the key may do: "
            + APIScope.allCases.map(\.rawValue).joined(separator: ", ") + ".")

    static let subcommand = Subcommand(
        "keys", usage: "create --name NAME --scopes SCOPES | list | revoke ID",
        summary: "Makes, lists and revokes the keys of the API.",
        discussion: """
            create prints the key once; only its hash is kept. A new key is taken, and a revoked one
            refused, within a second on every instance.
            """,
        options: [DatabaseOptions.url, name, scopes], wordCountMax: 2
    ) { settings in
        switch settings.words.first {
        case "create": try create(settings)
        case "list": try list(settings)
        case "revoke": try revoke(settings)
        case .some(let word): throw UsageError("\(word) is neither create, list nor revoke")
        case nil: throw UsageError("say create, list or revoke")
        }
        return 0
    }

    private static func create(_ settings: Settings) throws {
        let name = try settings.required(name)
        guard (1...100).contains(name.utf8.count), !name.contains(where: \.isNewline) else {
            throw UsageError("\(self.name.name) must be one line of 1 to 100 bytes")
        }
        let scopes = try scopes(try settings.required(scopes))
        let text = try DatabaseOptions.withStore(settings) { store, _ in
            let made = APIKeyText.make(name: name, scopes: scopes, at: SystemClock.now())
            try await store.create(made.key)
            return made.text
        }
        Output.print(text + "\n")
    }

    private static func scopes(_ text: String) throws -> [APIScope] {
        let scopes = try text.split(separator: ",").map { part in
            guard let scope = APIScope(rawValue: String(part)) else {
                throw UsageError("\(self.scopes.name): there is no scope \(part)")
            }
            return scope
        }
        guard !scopes.isEmpty else { throw UsageError("\(self.scopes.name) is empty") }
        return scopes
    }

    private static func list(_ settings: Settings) throws {
        let keys = try DatabaseOptions.withStore(settings) { store, _ in try await store.apiKeys() }
        for key in keys {
            let state = key.revokedAt.map { "revoked \($0)" } ?? "in force"
            Output.print(
                "\(key.id)  \(key.createdAt)  \(state)  \(key.scopes.joined(separator: ","))  "
                    + "\(key.name)\n")
        }
    }

    private static func revoke(_ settings: Settings) throws {
        guard settings.words.count == 2 else { throw UsageError("revoke needs the id of a key") }
        let id = settings.words[1]
        let wasInForce = try DatabaseOptions.withStore(settings) { store, _ in
            try await store.revokeAPIKey(id, at: SystemClock.now())
        }
        guard wasInForce else { throw UsageError("there is no key \(id) in force") }
        Output.print("revoked \(id)\n")
    }
}

import Base
import Glibc
import PrivatePostgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Starting the service` {
    /// Runs `coinledger serve` and expects that it ends with one line.
    private func expectRefused(
        _ world: World, _ options: [String], _ status: Int32, naming text: String,
        environment: [String: String] = [:]
    ) throws {
        let all = ["COINLEDGER_DATABASE_URL": world.ledger.serviceURL]
        let run = try Program.run(
            ["serve", "--listen", "127.0.0.1:0", "--log-level", "error"] + options,
            environment: all.merging(environment) { $1 })
        #expect(run.exit == .code(status), "\(options): \(run.output)")
        let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 2, "\(run.output)")
        #expect(run.output.hasPrefix("coinledger serve: "), "\(run.output)")
        #expect(run.output.contains(text), "\(run.output)")
    }

    /// Nothing calls it by name, so that a linker may think it isn't needed.
    @Test func `takes its memory from mimalloc`() async throws {
        try await World.run { world throws in
            let service = try #require(world.services.first)
            #expect(service.mappedFiles.contains("libmimalloc"))
        }
    }

    @Test func `is refused without a root, or with one that isn't Apple's`() async throws {
        try await World.run(services: 0) { world throws in
            let folder = world.folder.path
            let catalogue = ["--catalogue", folder + "/catalogue.json"]
            let root = folder + "/root.pem"
            try expectRefused(world, catalogue, 64, naming: "--app-store-root")
            try expectRefused(
                world, catalogue + ["--app-store-root", root], 64, naming: "--allow-private-root")
            try expectRefused(
                world, catalogue, 64, naming: root,
                environment: ["COINLEDGER_APP_STORE_ROOTS": root])
            try expectRefused(
                world, catalogue + ["--app-store-root", folder + "/none.pem"], 64,
                naming: "none.pem")
            try expectRefused(
                world,
                catalogue + [
                    "--app-store-root", folder + "/catalogue.json", "--allow-private-root",
                ],
                64, naming: "holds no certificate")
        }
    }

    @Test func `is refused without a catalogue that can be read`() async throws {
        try await World.run(services: 0) { world throws in
            let folder = world.folder.path
            let root = ["--app-store-root", folder + "/root.pem", "--allow-private-root"]
            try expectRefused(world, root, 64, naming: "--catalogue")
            try expectRefused(
                world, root + ["--catalogue", folder + "/none.json"], 64, naming: "none.json")
            try expectRefused(world, root + ["--catalogue", folder], 64, naming: folder)
            let broken = folder + "/broken.json"
            for (text, named) in [
                ("{", "isn't JSON"), ("[]", "isn't an object"),
                (#"{"version":"1","bundleIds":["a"],"products":[]}"#, "products"),
                (
                    #"{"version":"1","bundleIds":["a"],"products":[{"productId":"p"}]}"#,
                    "worth nothing"
                ),
                (
                    #"{"version":"1","bundleIds":["a"],"products":[{"productId":"p","paid":-1}]}"#,
                    "products[0].paid"
                ),
                (#"{"version":"1","bundleIds":["a"],"product":[]}"#, "product"),
            ] {
                try write(text, to: broken)
                try expectRefused(world, root + ["--catalogue", broken], 64, naming: named)
            }
        }
    }

    @Test func `is refused without a database that is there and migrated`() async throws {
        try await World.run(services: 0) { world throws in
            let empty = try TestDatabase.create()
            let urls = [
                empty.connectionString, "postgresql:///x?host=/nowhere&user=y",
                "postgresql://user:secret-password@127.0.0.1:1/x",
            ]
            for url in urls {
                let run = try Program.run(
                    ["serve", "--listen", "127.0.0.1:0", "--log-level", "error"]
                        + world.serveOptions, environment: ["COINLEDGER_DATABASE_URL": url])
                #expect(run.exit == .code(1), "\(run.output)")
                #expect(run.output.split(separator: "\n").count == 1, "\(run.output)")
                #expect(run.output.hasPrefix("coinledger serve: "))
                #expect(!run.output.contains("secret-password"))
            }
        }
    }

    @Test func `is refused with a mode that doesn't exist`() async throws {
        try await World.run(services: 0) { world throws in
            for (option, named) in [
                (["--receipt-verification", "never"], "offline, remote, offline-then-remote"),
                (["--ocsp", "maybe"], "off, soft, hard"),
                (["--ocsp", "soft", "--ocsp-url", "ocsp.apple.com"], "isn't a URL"),
            ] {
                try expectRefused(world, world.serveOptions + option, 64, naming: named)
            }
        }
    }

    @Test func `is refused on a port that is taken`() async throws {
        try await World.run { world throws in
            let run = try Program.run(
                ["serve", "--log-level", "error", "--listen", "127.0.0.1:\(world.port)"]
                    + world.serveOptions,
                environment: ["COINLEDGER_DATABASE_URL": world.ledger.serviceURL])
            #expect(run.exit == .code(64))
            #expect(run.output.hasPrefix("coinledger serve: can't listen on 127.0.0.1:"))
            #expect(run.output.split(separator: "\n").count == 1)
        }
    }

    @Test func `with a private root is possible, and said in the log`() async throws {
        try await World.run { world throws in
            #expect(world.services[0].output.contains("warn  private root trusted"))
        }
    }

    @Test func `takes everything from the environment`() async throws {
        try await World.run(services: 0) { world throws in
            let folder = world.folder.path
            let process = try Program.start(
                ["serve"],
                environment: [
                    "COINLEDGER_DATABASE_URL": world.ledger.serviceURL,
                    "COINLEDGER_LISTEN": "127.0.0.1:0",
                    "COINLEDGER_CATALOGUE": folder + "/catalogue.json",
                    "COINLEDGER_APP_STORE_ROOTS": folder + "/root.pem",
                    "COINLEDGER_ALLOW_PRIVATE_ROOT": "true",
                    "COINLEDGER_APP_STORE_SHARED_SECRET": "the-shared-secret",
                ], log: folder + "/serve.log")
            let isListening = eventually {
                contents(folder + "/serve.log").contains("listening url=http://127.0.0.1:")
                    ? true : nil
            }
            #expect(isListening == true)
            #expect(!contents(folder + "/serve.log").contains("the-shared-secret"))
            process.terminate(SIGINT)
            #expect(process.wait(seconds: 10) == .code(0))
        }
    }
}

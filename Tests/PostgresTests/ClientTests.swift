import Base
import EventLoop
import Glibc
import Postgres
import PrivatePostgres
import TestSupport
import Testing

@Suite struct `A client` {
    @Test func `goes round its connections`() async throws {
        let process = PostgresStatement("process", "SELECT pg_backend_pid()")
        try await withClient(connections: 3) { (client, loop) async throws in
            _ = try await client.execute(one)
            // The others may still be connecting.
            var seen: Set<Int64> = []
            for _ in 0..<1_000 where seen.count < 3 {
                seen.insert(try await client.read([(process, [])])[0].int8(0, 0))
            }
            #expect(seen.count == 3)
        }
    }

    @Test func `connects again after its connection was ended`() async throws {
        let suicide = PostgresStatement(
            "suicide", "SELECT pg_terminate_backend(pg_backend_pid())")
        try await withClient { (client, loop) async throws in
            let lost = await failure { () throws(PostgresError) in
                _ = try await client.execute(suicide)
            }
            #expect(lost == .connectionLost(sent: true))
            #expect(try await client.execute(one).int8(0, 0) == 1)
        }
    }

    @Test func `is unavailable while the server is dead, and back with it`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let server = try PrivatePostgres.start(folder: folder.path)
        try await withClient(server.adminURL) { (client, loop) async throws in
            #expect(try await client.execute(one).int8(0, 0) == 1)
            async let running = failure { () throws(PostgresError) in
                _ = try await client.execute(sleep)
            }
            await Task.yield()
            try server.kill()
            #expect(await running?.isResultUnknown == true)
            let dead = await failure { () throws(PostgresError) in
                _ = try await client.execute(one)
            }
            guard case .unavailable = dead else {
                Issue.record("unexpected: \(String(describing: dead))")
                return
            }

            try server.restart()
            var answer: Int64?
            for _ in 0..<500 where answer == nil {
                answer = try? await client.execute(one).int8(0, 0)
                if answer == nil { await loop.sleep(milliseconds: 10) }
            }
            #expect(answer == 1)
        }
        try server.stop()
    }

    @Test func `puts attempts off after a failure`() async throws {
        try await withClient("host=/no/such/folder user=nobody") { (client, loop) async throws in
            let first = await failure { () throws(PostgresError) in
                _ = try await client.execute(one)
            }
            let began = EventLoop.now()
            for _ in 0..<100 {
                let later = await failure { () throws(PostgresError) in
                    _ = try await client.execute(one)
                }
                #expect(later == first)
            }
            #expect(EventLoop.now() - began < 1_000)
            #expect(first?.isResultUnknown == false)
        }
    }

    @Test func `does not wait for a server that says nothing beyond the limit`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let listener = try silentServer(folder.path + "/.s.PGSQL.5432")
        defer { Glibc.close(listener) }
        var configuration = try PostgresConfiguration("host=\(folder.path) user=x port=5432")
        configuration.connectTimeoutSeconds = 1
        try await withClient(configuration) { (client, loop) async throws in
            let error = await failure { () throws(PostgresError) in
                _ = try await client.execute(one)
            }
            #expect(error == .unavailable("no connection within the limit"))
        }
    }

    @Test(arguments: ["", "nonsense\n", "R\0\0\0\u{8}\0\0\0\u{63}", "Z\u{7F}\u{7F}\u{7F}\u{7F}"])
    func `is unavailable if the server talks nonsense`(answer: String) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let listener = try silentServer(folder.path + "/.s.PGSQL.5432")
        defer { Glibc.close(listener) }
        Thread.start {
            // libpq may try again with an older protocol.
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                var startup = [UInt8](repeating: 0, count: 4096)
                _ = read(client, &startup, startup.count)
                _ = write(client, answer, answer.utf8.count)
                Glibc.close(client)
            }
        }
        let string = "host=\(folder.path) user=x port=5432 sslmode=disable gssencmode=disable"
        try await withClient(string) { (client, loop) async throws in
            let error = await failure { () throws(PostgresError) in
                _ = try await client.execute(one)
            }
            guard case .unavailable = error else {
                Issue.record("unexpected: \(String(describing: error))")
                return
            }
        }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    @Test func `refuses when it is closed`() async throws {
        try await withClient { (client, loop) async throws in
            _ = try await client.execute(one)
            client.close()
            #expect(!client.isConnected)
            let error = await failure { () throws(PostgresError) in
                _ = try await client.execute(one)
            }
            #expect(error == .unavailable("the client is closed"))
        }
    }

    private func withClient(
        _ connectionString: String? = nil, connections: Int = 1,
        _ body: @escaping @Sendable (PostgresClient, EventLoop) async throws -> Void
    ) async throws {
        try await withClient(
            PostgresConfiguration(connectionString ?? TestCluster.shared.adminURL),
            connections: connections, body)
    }

    private func withClient(
        _ configuration: PostgresConfiguration, connections: Int = 1,
        _ body: @escaping @Sendable (PostgresClient, EventLoop) async throws -> Void
    ) async throws {
        try await onLoop { loop in
            let client = PostgresClient(configuration, connections: connections, on: loop)
            defer { client.close() }
            try await body(client, loop)
        }
    }

    /// A socket at `path` that nobody accepts from.
    private func silentServer(_ path: String) throws -> Int32 {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(listener, 5) == 0)
        return listener
    }
}

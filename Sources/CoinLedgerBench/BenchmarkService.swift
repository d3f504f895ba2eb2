import AppStoreStandIn
import CoinLedger
import CoinLedgerService
import Glibc
import Postgres
import PostgresEventStore
import PrivatePostgres
import Telemetry

/// A `coinledger serve` of the benchmark's own, with a key and accounts to read.
final class BenchmarkService {
    let url: String
    let key: String
    private let process: ChildProcess

    private static let startSecondsMax = 30.0
    private static let stopSecondsMax = 15.0

    init(_ bench: Workbench) throws {
        key = try BenchmarkService.makeKey(bench)
        let catalogue = try bench.writeFile(
            "catalogue.json",
            """
            {"version": "bench-1", "bundleIds": ["\(Workbench.bundleID)"],
             "products": [{"productId": "\(Workbench.productID)", "paid": 100, "bonus": 10}],
             "stamps": [{"stampId": "\(Workbench.stampID)", "coins": 30}]}
            """)
        let root = try bench.writeFile("root.pem", bench.authority.root.pem)
        let port = try BenchmarkService.freePort()
        process = try ChildProcess.start(
            "\(Workbench.binaryFolder)/coinledger",
            [
                "serve", "--database-url", bench.connectionString("service"),
                "--listen", "127.0.0.1:\(port)", "--catalogue", catalogue,
                "--app-store-root", root, "--allow-private-root", "--log-level", "error",
            ], output: .inherited)
        url = "http://127.0.0.1:\(port)"
        try waitUntilReady(bench)
    }

    func stop() {
        process.terminate()
        _ = process.wait(seconds: BenchmarkService.stopSecondsMax)
    }

    /// The most memory it has held at any time.
    func residentMegabytesMax() throws -> Double {
        guard let file = fopen("/proc/\(process.processID)/status", "r") else {
            throw BenchmarkError("the service has died")
        }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            let kilobytes = text.split(whereSeparator: \.isWhitespace).dropFirst().first
            return (kilobytes.flatMap { Double($0) } ?? 0) / 1024
        }
        throw BenchmarkError("the system doesn't say how much memory the service holds")
    }

    /// The processor time it has used so far, in all its threads.
    func processorMicroseconds() throws -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(process.processID, &clock) == 0, clock_gettime(clock, &time) == 0
        else { throw BenchmarkError("the service has died") }
        return Double(time.tv_sec) * 1_000_000 + Double(time.tv_nsec) / 1000
    }

    private func waitUntilReady(_ bench: Workbench) throws {
        let deadline = ContinuousClock.now + .seconds(BenchmarkService.startSecondsMax)
        while ContinuousClock.now < deadline {
            if (try? bench.output(of: "curl", ["--silent", "--fail", "\(url)/readyz"])) != nil {
                return
            }
            usleep(50_000)
        }
        throw BenchmarkError("the service doesn't get ready")
    }

    private static func makeKey(_ bench: Workbench) throws -> String {
        guard let now = Timestamp(milliseconds: Int64(time(nil)) * 1000) else {
            throw BenchmarkError("the clock is wrong")
        }
        let made = APIKeyText.make(
            name: "bench", scopes: [.purchases, .read, .spends, .grants], at: now)
        let configuration = try PostgresConfiguration(bench.connectionString("service"))
        let loop = bench.loop
        try bench.onLoop {
            let store = try await PostgresEventStore.open(configuration, on: loop, log: .none)
            defer { store.close() }
            try await store.create(made.key)
            try await fund(BenchmarkLedger(store, loop))
        }
        return made.text
    }

    /// Gives every account, and the hot one with number 0, more coins than it will spend.
    private static func fund(_ ledger: BenchmarkLedger) async throws {
        let gift = BenchmarkLedger.gift(1_000_000_000_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0...HTTPBenchmark.accountCount {
                guard let account = AccountID("account-\(number)") else { continue }
                if number >= accountsAtOnce { try await group.next() }
                group.addTask { try await ledger.carryOut([gift], on: account) }
            }
            for number in 0..<SignedNotifications.accountCount {
                guard let account = AccountID(SignedNotifications.account(number)) else { continue }
                try await group.next()
                group.addTask { try await ledger.carryOut([gift], on: account) }
            }
            try await group.waitForAll()
        }
    }

    private static let accountsAtOnce: Int64 = 512

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard isBound else { throw BenchmarkError("there is no free port") }
        return UInt16(bigEndian: address.sin_port)
    }
}

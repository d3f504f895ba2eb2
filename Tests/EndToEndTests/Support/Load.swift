import AppStoreStandIn
import Base
import Glibc
import TestSupport

/// Clients that buy and post, one purchase after the other. Each posts a purchase again until it's
/// answered 201 or 409, as apps do, whatever happens to the service meanwhile.
final class Load: Sendable {
    struct Progress: Sendable {
        /// The ids of the transactions that were answered 201 or 409.
        var acknowledged: Set<String> = []
        /// How often each status came.
        var statuses: [Int: Int] = [:]
        /// Those answered 409 although nobody had posted them before.
        var untruthful: [String] = []
        fileprivate var isStopped = false
        fileprivate var clientsAtWork = 0
    }

    private let world: World
    private let proof: ViewerApp.Proof
    private let progress = Lock(Progress())
    private let ports: Lock<[UInt16]>

    /// Between two attempts of a client whose service is away.
    private static let pauseMicroseconds: UInt32 = 3000

    init(_ world: World, clients: Int = 8, proof: ViewerApp.Proof = .signedTransaction) {
        self.world = world
        self.proof = proof
        ports = Lock(world.services.map(\.port))
        progress.withLock { $0.clientsAtWork = clients }
        for client in 0..<clients {
            Base.Thread.start {
                self.run(client)
                self.progress.withLock { $0.clientsAtWork -= 1 }
            }
        }
    }

    /// Where the services listen from now on.
    func move(to port: UInt16) { ports.withLock { $0 = [port] } }

    var acknowledged: Set<String> { progress.withLock { $0.acknowledged } }

    /// Waits until so many more purchases are acknowledged than now; false if they aren't in time.
    func waitForMore(_ count: Int) -> Bool {
        let goal = acknowledged.count + count
        return eventually(seconds: 60) { acknowledged.count >= goal ? true : nil } ?? false
    }

    /// Lets every client finish its attempt, and returns what they saw.
    func stop() -> Progress {
        progress.withLock { $0.isStopped = true }
        _ = eventually(seconds: 60) { progress.withLock { $0.clientsAtWork } == 0 ? true : nil }
        return progress.withLock { $0 }
    }

    private var isStopped: Bool { progress.withLock { $0.isStopped } }

    private func run(_ client: Int) {
        var connection: HTTPConnection?
        var sales = 0
        while !isStopped {
            sales += 1
            // A device of its own, lest each sale make a longer app receipt.
            let device = "device-\(client)-\(sales)"
            guard let sale = try? world.shop.sell("coins100", { $0.device = device }) else {
                return
            }
            let receipt = proof == .appReceipt ? sale.receipt : sale.signedTransaction
            let question = world.posting(receipt, to: "load-\(client % 5)")
            var attempts = 0
            while !isStopped {
                attempts += 1
                connection = connection ?? connect(client)
                guard let answer = try? connection?.ask(question) else {
                    connection = nil
                    usleep(Load.pauseMicroseconds)
                    continue
                }
                if answer["Connection"]?.lowercased() == "close" { connection = nil }
                if note(answer.status, sale.transactionID, isFirst: attempts == 1) { break }
                usleep(Load.pauseMicroseconds)
            }
        }
    }

    private func connect(_ client: Int) -> HTTPConnection? {
        let ports = ports.withLock { $0 }
        guard !ports.isEmpty else { return nil }
        return try? HTTPConnection(port: ports[client % ports.count])
    }

    /// - Returns: whether the purchase is settled.
    private func note(_ status: Int, _ transactionID: String, isFirst: Bool) -> Bool {
        progress.withLock { progress in
            progress.statuses[status, default: 0] += 1
            if status == 409, isFirst { progress.untruthful.append(transactionID) }
            guard status == 201 || status == 409 else { return false }
            progress.acknowledged.insert(transactionID)
            return true
        }
    }
}

import Base
import CoinLedger
import EventLoop
import Glibc

/// A viewer with the app: posts purchases and looks at the balance.
struct DemoViewer: Sendable {
    let account: String
    let page: DevPage
    let requests: DemoRequests
    let loop: EventLoop

    /// How often, and after which pauses, the balance is looked at until the service has done what
    /// nobody was told of.
    private static let looksMax = 100
    private static let pauseMilliseconds: Int64 = 50

    private var accountURL: String { "\(page.url)/v1/accounts/\(account)" }

    @discardableResult
    func post(_ receipt: String, expecting first: Int, or second: Int? = nil) async throws
        -> DemoAnswer
    {
        let answer = try await requests.send(
            "POST", "\(accountURL)/receipts", key: page.backendKey, ["receipt": .string(receipt)])
        let code = answer.json["code"]?.string.map { " \($0)" } ?? ""
        Output.print("  POST receipts → \(answer.status)\(code)\n")
        guard answer.status == first || answer.status == second else {
            throw DemoError("the post should have been answered \(first)")
        }
        return answer
    }

    /// Sends a command with an idempotency key of its own.
    func command(_ name: String, _ body: JSON, expecting status: Int) async throws {
        let key = "demo-\(UInt64.random(in: .min ... .max))"
        let answer = try await requests.send(
            "POST", "\(accountURL)/\(name)", key: page.backendKey, idempotencyKey: key, body)
        let code = answer.json["code"]?.string.map { " \($0)" } ?? ""
        Output.print("  POST \(name) → \(answer.status)\(code)\n")
        guard answer.status == status else {
            throw DemoError("the command should have been answered \(status)")
        }
    }

    /// Says what the store would say of a purchase.
    func refund(_ transaction: String, _ type: String) async throws {
        let body: JSON = [
            "transactionId": .string(transaction), "environment": "Production",
            "type": .string(type), "signedDate": .integer(SystemClock.now().milliseconds),
        ]
        let answer = try await requests.send(
            "POST", "\(page.url)/v1/refunds", key: page.backendKey, body)
        let outcome = answer.json["outcome"]?.string ?? ""
        Output.print("  POST refunds → \(answer.status) \(outcome)\n")
        guard answer.status == 200 else { throw DemoError("the refund should have been taken") }
    }

    func readDebt(expecting debt: Int64) async throws {
        let answer = try await requests.send(
            "GET", "\(accountURL)/balance", key: page.backendKey)
        guard let found = answer.json["debt"]?.integer else {
            throw DemoError("the balance was answered \(answer.status)")
        }
        Output.print("  GET balance → \(found) coins owed\n")
        guard found == debt else { throw DemoError("the debt should be \(debt)") }
    }

    func readBalance(expecting total: Int64) async throws {
        let balance = try await balance()
        Output.print("  GET balance → \(balance) coins\n")
        guard balance == total else { throw DemoError("the balance should be \(total)") }
    }

    func awaitBalance(_ total: Int64) async throws {
        for _ in 0..<DemoViewer.looksMax {
            if try await balance() == total { return }
            await loop.sleep(milliseconds: DemoViewer.pauseMilliseconds)
        }
        throw DemoError("the balance should have become \(total)")
    }

    private func balance() async throws -> Int64 {
        let answer = try await requests.send(
            "GET", "\(accountURL)/balance", key: page.backendKey)
        guard answer.status == 200, let total = answer.json["total"]?.integer else {
            throw DemoError("the balance was answered \(answer.status)")
        }
        return total
    }

    /// Sends the whole post and closes the connection without reading the answer.
    func postAndHangUp(_ receipt: String) async throws {
        let body = (["receipt": .string(receipt)] as JSON).bytes
        let host = String(page.url.dropFirst("http://".count))
        let head = """
            POST /v1/accounts/\(account)/receipts HTTP/1.1\r
            Host: \(host)\r
            Authorization: Bearer \(page.backendKey)\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r
            \r

            """
        guard let colon = host.lastIndex(of: ":"),
            let port = UInt16(host[host.index(after: colon)...])
        else { throw DemoError("\(page.url) has no port") }
        guard DemoViewer.send(Array(head.utf8) + body, toPort: port) else {
            throw DemoError("the service can't be reached")
        }
        Output.print("  POST receipts → (the connection breaks before the answer)\n")
    }

    /// `coinledger dev` listens on this machine.
    private static func send(_ bytes: [UInt8], toPort port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        return isConnected && Glibc.send(descriptor, bytes, bytes.count, 0) == bytes.count
    }
}

import AppStore
import AppStoreConnection
import Base
import Testing

@Suite struct `Asking verifyReceipt` {
    private func failure(
        _ store: ScriptedStore, _ client: VerifyReceiptClient? = nil
    ) async -> VerifyReceiptError? {
        do throws(VerifyReceiptError) {
            _ = try await (client ?? store.client()).verify(receipt: "MII=")
            return nil
        } catch {
            return error
        }
    }

    @Test func `asks production first`() async throws {
        let store = ScriptedStore(answer([entry("T1")]))
        let receipt = try await store.client().verify(receipt: "MII=")
        #expect(receipt.environment == .production)
        #expect(receipt.bundleID == "com.nonchalant")
        #expect(receipt.transactions.map(\.transactionID) == ["T1"])
        #expect(store.requests.map(\.url) == ["https://buy.itunes.apple.com/verifyReceipt"])
        #expect(store.requests[0].method == "POST")
        #expect(try JSON.parse(store.requests[0].body) == ["receipt-data": "MII="])
        #expect(store.requests[0].timeoutMilliseconds == 10_000)
    }

    @Test func `sends the shared secret if there is one`() async throws {
        let store = ScriptedStore(answer([]))
        _ = try await store.client { $0.sharedSecret = "s" }.verify(receipt: "MII=")
        let expected: JSON = ["receipt-data": "MII=", "password": "s"]
        #expect(try JSON.parse(store.requests[0].body) == expected)
    }

    @Test func `turns to the sandbox for that one receipt only`() async throws {
        let store = ScriptedStore(
            ["status": 21007], answer([entry("T1")], environment: "Sandbox"),
            answer([entry("T2")]))
        let client = store.client()
        let first = try await client.verify(receipt: "MII=")
        #expect(first.environment == .sandbox)
        #expect(first.transactions[0].environment == .sandbox)
        let second = try await client.verify(receipt: "MII=")
        #expect(second.environment == .production)
        #expect(store.asked == "PSP")
        #expect(store.requests[1].url == "https://sandbox.itunes.apple.com/verifyReceipt")
        #expect(store.pauses == [])
    }

    @Test func `reports what the sandbox said, not that it was asked`() async {
        let store = ScriptedStore(["status": 21007], ["status": 21003])
        #expect(await failure(store) == .rejected(status: 21003))
    }

    @Test func `goes back to production if the sandbox says so`() async throws {
        let store = ScriptedStore(
            ["status": 21007], ["status": 21008], answer([entry("T1")]))
        #expect(try await store.client().verify(receipt: "MII=").environment == .production)
        #expect(store.asked == "PSP")
    }

    @Test func `is sent to and fro a bounded number of times`() async {
        let store = ScriptedStore(
            ["status": 21007], ["status": 21008], ["status": 21007])
        #expect(await failure(store) == .unavailable(.status(21007)))
        #expect(store.asked == "PSPPPP")
    }

    @Test(
        arguments: [
            (21000, VerifyReceiptError.misconfigured(status: 21000), 1),
            (21001, .unavailable(.status(21001)), 4), (21002, .malformed, 4),
            (21003, .rejected(status: 21003), 1), (21004, .misconfigured(status: 21004), 1),
            (21005, .unavailable(.status(21005)), 4), (21006, .rejected(status: 21006), 1),
            (21009, .unavailable(.status(21009)), 4), (21010, .rejected(status: 21010), 1),
            (21099, .unavailable(.status(21099)), 4), (21100, .unavailable(.status(21100)), 4),
            (21199, .unavailable(.status(21199)), 4), (21200, .unavailable(.status(21200)), 4),
            (-1, .unavailable(.status(-1)), 4),
        ] as [(Int64, VerifyReceiptError, Int)])
    func `answers each status in its way`(
        status: Int64, error: VerifyReceiptError, requests: Int
    ) async {
        let store = ScriptedStore(["status": .integer(status)])
        #expect(await failure(store) == error)
        #expect(store.requests.count == requests)
    }

    @Test(arguments: ["is-retryable", "is_retryable"])
    func `believes the store that trying again is useless, where it may say so`(
        name: String
    ) async {
        func answered(_ status: Int64, _ value: JSON) async -> VerifyReceiptError? {
            let object = JSONObject([.init("status", .integer(status)), .init(name, value)])
            return await failure(ScriptedStore(.object(object)))
        }
        for value: JSON in [false, 0] {
            #expect(await answered(21150, value) == .rejected(status: 21150))
            #expect(await answered(21009, value) == .unavailable(.status(21009)))
        }
        for value: JSON in [true, 1, nil] {
            #expect(await answered(21150, value) == .unavailable(.status(21150)))
        }
    }

    @Test(arguments: [
        (ScriptedStore.Answer.text("<html>"), UnavailableReason.notJSON), (.text(""), .notJSON),
        (.text("[]"), .notJSON), (.text("{}"), .notJSON), (.text(#"{"status":"0"}"#), .notJSON),
        (.text(#"{"status":0}"#, status: 500), .http(500)), (.text("", status: 429), .http(429)),
        (.text("", status: 302), .http(302)), (.text("", status: 404), .http(404)),
        (.failure(.timedOut), .transport(.timedOut)),
        (.failure(.interrupted), .transport(.interrupted)),
        (.failure(.bodyTooLarge), .transport(.bodyTooLarge)),
    ])
    func `holds nothing against a receipt but the store's own word`(
        answer: ScriptedStore.Answer, reason: UnavailableReason
    ) async {
        let store = ScriptedStore([answer])
        #expect(await failure(store) == .unavailable(reason))
        #expect(store.requests.count == 4)
    }

    @Test func `succeeds once the store does`() async throws {
        let store = ScriptedStore([
            .failure(.interrupted), .json(["status": 21002]), .text("<html>"),
            .json(answer([entry("T1")])),
        ])
        let receipt = try await store.client().verify(receipt: "MII=")
        #expect(receipt.transactions.map(\.transactionID) == ["T1"])
        #expect(store.pauses == [250, 500, 1000])
    }

    @Test func `tries again where it was sent, not where it began`() async throws {
        let store = ScriptedStore([
            .json(["status": 21007]), .text("", status: 503),
            .json(answer([], environment: "Sandbox")),
        ])
        _ = try await store.client().verify(receipt: "MII=")
        #expect(store.asked == "PSS")
    }

    @Test func `waits at least half as long`() async {
        let store = ScriptedStore(["status": 21005])
        #expect(
            await failure(store, store.client(longWaits: false))
                == .unavailable(.status(21005)))
        #expect(store.pauses == [125, 250, 500])
    }

    @Test func `waits no longer than allowed`() async {
        let store = ScriptedStore(["status": 21005])
        let client = store.client {
            $0.attemptsMax = 8
            $0.deadlineMilliseconds = 100_000
        }
        _ = await failure(store, client)
        #expect(store.pauses == [250, 500, 1000, 2000, 4000, 4000, 4000])
    }

    @Test func `ends at the deadline, and gives each attempt what is left`() async {
        let store = ScriptedStore([.failure(.timedOut)], takesMilliseconds: 10_000)
        let client = store.client { $0.deadlineMilliseconds = 20_500 }
        #expect(await failure(store, client) == .unavailable(.transport(.timedOut)))
        // 10,000 of it, then a pause of 250, then no time for another pause of 500.
        #expect(store.requests.map(\.timeoutMilliseconds) == [10_000, 10_000])
        let short = ScriptedStore([.failure(.timedOut)], takesMilliseconds: 3000)
        let shortClient = short.client { $0.deadlineMilliseconds = 4000 }
        #expect(await failure(short, shortClient) == .unavailable(.transport(.timedOut)))
        #expect(short.requests.map(\.timeoutMilliseconds) == [4000, 750])
    }

    @Test func `tells what went wrong before it ran out of time`() async {
        let store = ScriptedStore([.text("", status: 503)])
        let client = store.client(oversleepMilliseconds: 60_000)
        #expect(await failure(store, client) == .unavailable(.http(503)))
        #expect(store.requests.count == 1)
        let late = ScriptedStore([.json(["status": 21007])], takesMilliseconds: 20_000)
        #expect(await failure(late) == .unavailable(.outOfTime))
    }

    @Test func `never calls a receipt malformed for want of time`() async {
        let store = ScriptedStore([.json(["status": 21002])], takesMilliseconds: 15_000)
        #expect(await failure(store) == .unavailable(.status(21002)))
    }

    @Test func `is unavailable while too many receipts are read`() async {
        let store = ScriptedStore(answer([]))
        let pool = WorkerPool(threads: 1, jobsMax: 0)
        defer { pool.stop() }
        let client = VerifyReceiptClient(
            send: { (_) async throws(HTTPClientError) in throw .stopped }, pool: pool,
            configuration: VerifyReceiptConfiguration(), clock: .system)
        #expect(await failure(store, client) == .unavailable(.overloaded))
    }

    @Test func `says whether the same receipt may be sent again`() {
        #expect(VerifyReceiptError.unavailable(.notJSON).isRetryable)
        #expect(VerifyReceiptError.misconfigured(status: 21004).isRetryable)
        #expect(!VerifyReceiptError.rejected(status: 21003).isRetryable)
        #expect(!VerifyReceiptError.malformed.isRetryable)
    }
}

import AppStoreConnection
import AppStoreStandIn
import Base
import Testing

@Suite struct `The HTTP client` {
    private func failure(
        _ client: HTTPClient, _ request: HTTPClientRequest
    ) async -> HTTPClientError? {
        do throws(HTTPClientError) {
            _ = try await client.send(request)
            return nil
        } catch {
            return error
        }
    }

    private func answer(
        to request: (String) -> HTTPClientRequest = { HTTPClientRequest(url: $0) },
        from bytes: String, closes: Bool = true
    ) async -> Result<HTTPClientResponse, HTTPClientError> {
        let server = RawServer(Array(bytes.utf8), closes: closes)
        defer { server.stop() }
        do throws(HTTPClientError) {
            return .success(try await HTTPClient().send(request(server.url)))
        } catch {
            return .failure(error)
        }
    }

    @Test func `gets and posts`() async throws {
        try await withStandIn { standIn in
            let client = HTTPClient()
            let root = try await client.send(HTTPClientRequest(url: standIn.url + "/root.pem"))
            #expect(root.status == 200)
            #expect(root.body == Array(standIn.store.authority.rootsPEM.utf8))
            let sale = try await client.send(
                HTTPClientRequest(
                    method: "POST", url: standIn.url + "/purchases",
                    headers: [(name: "Content-Type", value: "application/json")],
                    body: Array(#"{"productId":"p"}"#.utf8)))
            #expect(sale.status == 201)
            let cleared = try await client.send(
                HTTPClientRequest(method: "DELETE", url: standIn.url + "/faults"))
            #expect(cleared.status == 200)
            let missing = try await client.send(HTTPClientRequest(url: standIn.url + "/nothing"))
            #expect(missing.status == 404)
        }
    }

    @Test func `serves many callers at once over few connections`() async throws {
        try await withStandIn { standIn in
            var limits = HTTPClientLimits()
            limits.connectionsMax = 2
            let client = HTTPClient(limits: limits)
            let url = standIn.url + "/root.pem"
            try await withThrowingTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask { try await client.send(HTTPClientRequest(url: url)).status }
                }
                for try await status in group { #expect(status == 200) }
            }
        }
    }

    @Test func `sends a large body without asking whether it may`() async throws {
        let server = RawServer(
            Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8), closes: true,
            requestBytesMin: 2_000_000)
        defer { server.stop() }
        let body = [UInt8](repeating: 65, count: 2_000_000)
        let response = try await HTTPClient().send(
            HTTPClientRequest(method: "POST", url: server.url, body: body))
        #expect(response.status == 200)
        let head = String(decoding: server.request.prefix(1000), as: UTF8.self)
        #expect(head.contains("Content-Length: 2000000\r\n"))
        #expect(!head.contains("Expect"))
    }

    @Test func `follows no redirect`() async {
        let redirect =
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
        #expect(await answer(from: redirect) == .success(.init(status: 302, body: [])))
    }

    @Test(arguments: [
        ("Retry-After: 1796049250000\r\n", "1796049250000"), ("retry-after:  5 \r\n", "5"),
        ("", nil), ("Retry-After: \(String(repeating: "1", count: 65))\r\n", nil),
    ])
    func `tells when the server wants to be asked again`(header: String, text: String?) async {
        let bytes = "HTTP/1.1 429 Too Many\r\n\(header)Content-Length: 0\r\n\r\n"
        let expected = HTTPClientResponse(status: 429, body: [], retryAfter: text)
        #expect(await answer(from: bytes) == .success(expected))
    }

    @Test func `sends a body with PUT`() async throws {
        let server = RawServer(
            Array("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".utf8), closes: true,
            requestBytesMin: 64)
        defer { server.stop() }
        let response = try await HTTPClient().send(
            HTTPClientRequest(method: "PUT", url: server.url + "/a", body: Array("{}".utf8)))
        #expect(response.status == 202)
        let request = String(decoding: server.request, as: UTF8.self)
        #expect(request.hasPrefix("PUT /a HTTP/1.1\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{}"))
    }

    @Test func `ends an answer that is too large`() async {
        let server = RawServer(
            Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + [UInt8](repeating: 65, count: 10_001),
            closes: true)
        defer { server.stop() }
        var limits = HTTPClientLimits()
        limits.bodyBytesMax = 10_000
        let client = HTTPClient(limits: limits)
        #expect(await failure(client, HTTPClientRequest(url: server.url)) == .bodyTooLarge)
        limits.bodyBytesMax = 10_001
        let other = HTTPClient(limits: limits)
        #expect(await failure(other, HTTPClientRequest(url: server.url)) == nil)
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ])
    func `takes nothing that was cut off`(bytes: String) async {
        #expect(await answer(from: bytes) == .failure(.interrupted))
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"])
    func `waits for a silent server no longer than told`(bytes: String) async {
        let result = await answer(
            to: { HTTPClientRequest(url: $0, timeoutMilliseconds: 100) }, from: bytes,
            closes: false)
        #expect(result == .failure(.timedOut))
    }

    @Test func `says that nobody listens`() async {
        let server = RawServer([], closes: true)
        server.stop()
        #expect(await failure(HTTPClient(), HTTPClientRequest(url: server.url)) == .notConnected)
    }

    @Test func `trusts nobody who can't show who they are`() async throws {
        try await withStandIn { standIn in
            let url = "https" + standIn.url.dropFirst(4)
            #expect(await failure(HTTPClient(), HTTPClientRequest(url: url)) == .notTrusted)
            let client = HTTPClient(authorityFile: "/nowhere/root.pem")
            #expect(await failure(client, HTTPClientRequest(url: url)) == .notTrusted)
        }
    }

    @Test(arguments: [
        HTTPClientRequest(url: "file:///etc/passwd"), HTTPClientRequest(url: "ftp://127.0.0.1/"),
        HTTPClientRequest(url: ""), HTTPClientRequest(url: "http://a\r\nb/"),
        HTTPClientRequest(method: "GET\r\nX: y", url: "http://127.0.0.1/"),
        HTTPClientRequest(url: "http://127.0.0.1/", headers: [(name: "A", value: "b\r\nC: d")]),
        HTTPClientRequest(url: "http://127.0.0.1/", timeoutMilliseconds: 0),
        HTTPClientRequest(url: "http://127.0.0.1/", timeoutMilliseconds: .max),
    ])
    func `sends nothing that isn't a request`(request: HTTPClientRequest) async {
        #expect(await failure(HTTPClient(), request) == .invalidRequest)
    }

    @Test func `has a bound on requests under way`() async {
        let server = RawServer([], closes: false)
        defer { server.stop() }
        var limits = HTTPClientLimits()
        limits.requestsMax = 1
        let client = HTTPClient(limits: limits)
        let request = HTTPClientRequest(url: server.url, timeoutMilliseconds: 600_000)
        // One of the two is refused at once, and then the other is stopped.
        let results = await withTaskGroup { group in
            for _ in 0..<2 { group.addTask { await failure(client, request) } }
            var results: [HTTPClientError?] = []
            for await result in group {
                results.append(result)
                client.stop()
            }
            return results
        }
        #expect(results == [.tooManyRequests, .stopped])
    }

    @Test func `sends nothing after it was stopped`() async {
        let client = HTTPClient()
        client.stop()
        client.stop()
        let request = HTTPClientRequest(url: "http://127.0.0.1:1/")
        #expect(await failure(client, request) == .stopped)
    }
}

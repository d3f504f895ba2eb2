import CoinLedgerAPI
import Testing

@Suite struct `Finding a route` {
    @Test func `takes the method and the path together`() {
        #expect(
            Route.match(method: "POST", path: "/v1/accounts/u%31/receipts")
                == .found(.submitReceipt, segments: ["u%31"]))
        #expect(
            Route.match(method: "PUT", path: "/v1/accounts/u1/app-account-token")
                == .found(.linkAppAccountToken, segments: ["u1"]))
        #expect(Route.match(method: "GET", path: "/livez") == .found(.alive, segments: []))
    }

    @Test func `takes HEAD as GET`() {
        #expect(
            Route.match(method: "HEAD", path: "/v1/accounts/u1/balance")
                == .found(.balance, segments: ["u1"]))
    }

    @Test func `names the methods of a path that has others`() {
        #expect(
            Route.match(method: "DELETE", path: "/v1/accounts/u1/receipts")
                == .methodNotAllowed(allowed: ["POST"]))
        #expect(
            Route.match(method: "get", path: "/livez")
                == .methodNotAllowed(allowed: ["GET", "HEAD"]))
    }

    @Test(arguments: [
        "", "/", "//", "livez", "/livez/", "//livez", "/v1/accounts/u1", "/v1/accounts/u1/x",
        "/v1/accounts/a/b/balance", "/V1/accounts/u1/balance", "/v1//u1/balance", "/livez?x",
    ])
    func `finds nothing elsewhere`(path: String) {
        #expect(Route.match(method: "GET", path: path) == .notFound)
    }
}

@Suite struct `Percent-encoding` {
    @Test(arguments: [
        ("abc", "abc"), ("%41%7a", "Az"), ("a+b", "a+b"), ("%C3%A4", "ä"), ("", ""), ("%2F", "/"),
    ])
    func `is undone`(text: String, decoded: String) {
        #expect(Percent.decode(text) == decoded)
    }

    @Test(arguments: ["%", "%4", "a%", "%zz", "%-1", "%C3", "%ff", "%C0%80"])
    func `that is broken, or no UTF-8, is nothing`(text: String) {
        #expect(Percent.decode(text) == nil)
    }
}

@Suite struct `The parameters of a query` {
    private func detail(_ query: String) -> String? {
        do throws(InvalidRequest) {
            _ = try QueryParameters(query, known: ["after", "limit"])
            return "none"
        } catch {
            return error.problem.detail
        }
    }

    @Test func `are found by their names`() throws {
        let query = try QueryParameters("limit=%35&&after=", known: ["after", "limit"])
        #expect(try query.integer("limit", in: 1...9, fallback: 3) == 5)
        #expect(throws: InvalidRequest.self) {
            try query.integer("after", in: 0...9, fallback: 3)
        }
        let none = try QueryParameters(nil, known: ["limit"])
        #expect(try none.integer("limit", in: 1...9, fallback: 3) == 3)
    }

    @Test func `that are unknown, repeated or broken are named`() {
        #expect(detail("limit=1&x=2") == "x")
        #expect(detail("limit=1&limit=2") == "limit")
        #expect(detail("limit=1&%6cimit=2") == "limit")
        #expect(detail("%zz") == nil)
        #expect(detail("=1") == "")
    }
}

import Testing

@testable import CoinLedgerCommand

@Suite struct `Reading arguments` {
    private static let port = Option(
        "port", "N", variable: "TEST_PORT", fallback: "80", help: "A port.")
    private static let name = Option("name", "NAME", variable: "TEST_NAME", help: "A name.")
    private static let isLoud = Option("loud", variable: "TEST_LOUD", help: "Says it loudly.")
    private static let files = Option(
        "file", "FILE", variable: "TEST_FILES", isRepeatable: true, help: "Files.")
    private static let secret = Option(nil, "SECRET", variable: "TEST_SECRET", help: "A secret.")

    private func settings(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) throws -> Settings {
        try Settings(
            arguments, options: [Self.port, Self.name, Self.isLoud, Self.files, Self.secret],
            environment: environment)
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing"
        } catch {
            return "\(error)"
        }
    }

    @Test func `takes flags before the environment, and that before what is usual`() throws {
        let environment = ["TEST_PORT": "2", "TEST_NAME": ""]
        #expect(try settings(["--port", "1"], environment).required(Self.port) == "1")
        #expect(try settings(["--port=1"], environment).required(Self.port) == "1")
        #expect(try settings([], environment).required(Self.port) == "2")
        #expect(try settings([]).required(Self.port) == "80")
        #expect(try settings([], environment).optional(Self.name) == nil)
        #expect(try settings(["--name="]).optional(Self.name) == "")
        #expect(try settings(["--name", "--loud"]).optional(Self.name) == "--loud")
    }

    @Test func `takes several of what may be repeated`() throws {
        #expect(try settings(["--file", "a", "--file=b"]).values(Self.files) == ["a", "b"])
        #expect(try settings([], ["TEST_FILES": "a:b"]).values(Self.files) == ["a", "b"])
        #expect(try settings([]).values(Self.files) == [])
        #expect(try settings([], ["TEST_NAME": "a:b"]).values(Self.name) == ["a:b"])
    }

    @Test func `takes switches without a value`() throws {
        #expect(try settings(["--loud"]).isOn(Self.isLoud))
        #expect(try settings([], ["TEST_LOUD": "1"]).isOn(Self.isLoud))
        #expect(try !settings([], ["TEST_LOUD": "false"]).isOn(Self.isLoud))
        #expect(try !settings([]).isOn(Self.isLoud))
        #expect(message { _ = try settings(["--loud=yes"]) } == "--loud takes no value")
        #expect(
            message { _ = try settings([], ["TEST_LOUD": "yes"]).isOn(Self.isLoud) }
                == "--loud: yes is neither true nor false")
    }

    @Test func `keeps words in their order`() throws {
        #expect(try settings(["a", "--port", "1", "b"]).words == ["a", "b"])
    }

    @Test func `names what is unknown, doubled, missing or out of range`() {
        #expect(message { _ = try settings(["--prot", "1"]) } == "unknown option --prot")
        #expect(message { _ = try settings(["--"]) } == "unknown option --")
        #expect(message { _ = try settings(["--port"]) } == "--port needs a value")
        #expect(
            message { _ = try settings(["--port", "1", "--port", "2"]) }
                == "--port is given twice")
        #expect(
            message { _ = try settings([]).required(Self.name) }
                == "--name or TEST_NAME is missing: A name.")
        for text in ["x", "0", "11", "1.5", "99999999999999999999"] {
            #expect(
                message { _ = try settings(["--port", text]).integer(Self.port, in: 1...10) }
                    == "--port: \(text) isn't a whole number from 1 to 10")
        }
    }

    @Test func `takes a secret from the environment only`() throws {
        #expect(message { _ = try settings(["--secret", "x"]) } == "unknown option --secret")
        #expect(try settings([], ["TEST_SECRET": "x"]).required(Self.secret) == "x")
        #expect(
            message { _ = try settings([]).required(Self.secret) }
                == "TEST_SECRET is missing: A secret.")
    }
}

@Suite struct `An address to listen on` {
    private func listen(_ text: String) throws -> ListenAddress {
        let option = Option("listen", "ADDRESS:PORT", help: "Where.")
        let settings = try Settings(["--listen", text], options: [option], environment: [:])
        return try ListenAddress(settings, option)
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", 8080), ("0.0.0.0:0", "0.0.0.0", 0),
        ("[::1]:65535", "::1", 65535),
    ])
    func `has a port behind its last colon`(text: String, address: String, port: UInt16) throws {
        let listen = try listen(text)
        #expect(listen.address == address)
        #expect(listen.port == port)
    }

    @Test(arguments: ["", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", ":80", "a:-1"])
    func `that lacks a part is refused`(text: String) {
        #expect(throws: UsageError.self) { try listen(text) }
    }

    @Test func `is written as a URL`() throws {
        #expect(try listen("127.0.0.1:0").url(port: 81) == "http://127.0.0.1:81")
        #expect(try listen("[::1]:0").url(port: 81) == "http://[::1]:81")
    }
}

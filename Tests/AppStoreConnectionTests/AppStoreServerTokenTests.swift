import AppStore
import AppStoreConnection
import Base
import COpenSSL
import Testing

@Suite struct `A token for the App Store Server API` {
    private let store = ScriptedStore(["signedTransactionInfo": "a.b.c"])

    private func token(_ request: HTTPClientRequest) throws -> String {
        let header = try #require(request.headers.first { $0.name == "Authorization" })
        #expect(header.value.hasPrefix("Bearer "))
        return String(header.value.dropFirst(7))
    }

    private func segment(_ token: String, _ index: Int) throws -> JSON {
        let parts = token.split(separator: ".")
        #expect(parts.count == 3)
        return try JSON.parse(#require(Base64.decode(String(parts[index]), .url)))
    }

    private func isGenuine(_ token: String) -> Bool {
        let parts = token.split(separator: ".").map(String.init)
        guard parts.count == 3, let signature = Base64.decode(parts[2], .url) else { return false }
        return PublicKey.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8))
    }

    @Test func `says who asks, for which app, and for how long`() async throws {
        _ = try await store.serverClient().transaction("1", in: .production)
        let token = try token(store.requests[0])
        let header: JSON = ["alg": "ES256", "kid": "2X9R4HXF34", "typ": "JWT"]
        #expect(try segment(token, 0) == header)
        let claims: JSON = [
            "iss": "57246542-96fe-1a63-e053-0824d011072a", "iat": 1_796_049_240,
            "exp": 1_796_049_540, "aud": "appstoreconnect-v1", "bid": "com.nonchalant",
        ]
        #expect(try segment(token, 1) == claims)
        #expect(isGenuine(token))
    }

    @Test func `is used again until a minute before its end`() async throws {
        let client = try store.serverClient()
        for milliseconds in [239_999, 1, 239_999] as [Int64] {
            _ = try await client.transaction("1", in: .production)
            store.wait(milliseconds: milliseconds)
        }
        _ = try await client.transaction("1", in: .sandbox)
        let tokens = try store.requests.map(token)
        #expect(tokens[0] == tokens[1])
        #expect(tokens[1] != tokens[2])
        #expect(tokens[2] == tokens[3])
        #expect(try segment(tokens[2], 1)["iat"] == 1_796_049_480)
    }

    @Test func `isn't from a future that was taken back`() async throws {
        let client = try store.serverClient()
        _ = try await client.transaction("1", in: .production)
        store.setClock(byMilliseconds: -3_600_000)
        _ = try await client.transaction("1", in: .production)
        #expect(try segment(try token(store.requests[1]), 1)["iat"] == 1_796_045_640)
    }

    @Test func `is always signed with 64 bytes`() async throws {
        let client = try store.serverClient()
        // One number in 256 begins with a zero, and each signature has two.
        for _ in 0..<600 {
            _ = try await client.transaction("1", in: .production)
            store.wait(milliseconds: 300_000)
        }
        let tokens = try store.requests.map(token)
        #expect(Set(tokens).count == 600)
        #expect(tokens.allSatisfy(isGenuine))
    }

    @Test func `that is refused is replaced once`() async throws {
        let store = ScriptedStore([
            .json(["signedTransactionInfo": "a.b.c"]), .text("", status: 401),
            .json(["signedTransactionInfo": "a.b.c"]),
        ])
        let client = try store.serverClient()
        _ = try await client.transaction("1", in: .production)
        store.wait(milliseconds: 1000)
        _ = try await client.transaction("1", in: .production)
        let tokens = try store.requests.map(token)
        #expect(tokens.count == 3)
        #expect(tokens[0] == tokens[1])
        #expect(tokens[1] != tokens[2])
    }

    @Test func `that is refused at once is the operator's business`() async throws {
        let store = ScriptedStore([.text("Unauthenticated\n", status: 401)])
        let client = try store.serverClient()
        await #expect(throws: AppStoreServerError.unauthorized) {
            _ = try await client.transaction("1", in: .production)
        }
        #expect(store.requests.count == 1)
    }

    @Test(arguments: [
        ("", AppStoreServerKeyError.notAKey), ("nonsense", .notAKey),
        (String(TestKeys.p256.dropLast(40)), .notAKey), (TestKeys.p256Public, .notAKey),
        (TestKeys.encrypted, .notAKey), (String(repeating: "A", count: 20_000), .notAKey),
        (TestKeys.p384, .wrongKind), (TestKeys.secp256k1, .wrongKind),
        (TestKeys.ed25519, .wrongKind),
    ])
    func `needs a private key on P-256`(pem: String, error: AppStoreServerKeyError) {
        #expect(throws: error) { _ = try AppStoreServerKey(pem: Array(pem.utf8)) }
    }

    @Test func `takes every prefix of a key for what it is`() {
        let pem = Array(TestKeys.p256.utf8)
        // The last line needs no line feed, and all its dashes.
        for count in 0..<pem.count {
            #expect(throws: AppStoreServerKeyError.notAKey) {
                _ = try AppStoreServerKey(pem: Array(pem[..<count]))
            }
        }
    }
}

/// The public half of the tests' key, as OpenSSL reads it.
private enum PublicKey {
    static func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        guard signature.count == 64, let key = read() else { return false }
        defer { EVP_PKEY_free(key) }
        let pair = ECDSA_SIG_new()
        defer { ECDSA_SIG_free(pair) }
        ECDSA_SIG_set0(
            pair, BN_bin2bn(Array(signature[..<32]), 32, nil),
            BN_bin2bn(Array(signature[32...]), 32, nil))
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(pair, &der)
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, der, Int(count), bytes, bytes.count) == 1
    }

    private static func read() -> OpaquePointer? {
        let pem = Array(TestKeys.p256Public.utf8)
        let file = BIO_new(BIO_s_mem())
        defer { BIO_free(file) }
        BIO_write(file, pem, Int32(pem.count))
        return PEM_read_bio_PUBKEY(file, nil, nil, nil)
    }
}

import AppStoreConnection
import Glibc
import Testing

/// The openssl command as a server with TLS, and the certificate that it made itself.
private final class TrustedServer: Sendable {
    let port: UInt16
    let certificate: String
    private let folder: String
    private let process: pid_t

    static var isPossible: Bool { access("/usr/bin/openssl", X_OK) == 0 }

    struct Silent: Error {}

    init() throws {
        var template = Array("/tmp/trust-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Silent() }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        certificate = folder + "/certificate.pem"
        let command = """
            cd \(folder) && echo $$ && openssl req -x509 -newkey ec \
            -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out certificate.pem \
            -days 2 -subj /CN=elsewhere -addext subjectAltName=IP:127.0.0.1 2>/dev/null \
            && exec openssl s_server -accept 127.0.0.1:0 -key key.pem -cert certificate.pem \
            -www </dev/null 2>/dev/null
            """
        guard let output = popen(command, "r") else { throw Silent() }
        process = TrustedServer.line(output, after: "").flatMap { pid_t($0) } ?? 0
        // It says where it listens once it does.
        let port = TrustedServer.line(output, after: "ACCEPT 127.0.0.1:").flatMap { UInt16($0) }
        guard process > 0, let port else { throw Silent() }
        self.port = port
    }

    func stop() {
        kill(process, SIGKILL)
        for name in ["key.pem", "certificate.pem"] { unlink(folder + "/" + name) }
        rmdir(folder)
    }

    /// The rest of the first line that begins so.
    private static func line(_ output: UnsafeMutablePointer<FILE>, after start: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 512)
        while fgets(&buffer, 512, output) != nil {
            let bytes = buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
            let text = String(decoding: bytes, as: UTF8.self)
            if text.hasPrefix(start) { return String(text.dropFirst(start.count)) }
        }
        return nil
    }
}

@Suite(.enabled(if: TrustedServer.isPossible, "there's no openssl command here"))
struct `The HTTP client's trust` {
    private func answer(_ url: String, _ authorityFile: String?) async -> Result<
        Int, HTTPClientError
    > {
        do throws(HTTPClientError) {
            let client = HTTPClient(authorityFile: authorityFile)
            return .success(try await client.send(HTTPClientRequest(url: url)).status)
        } catch {
            return .failure(error)
        }
    }

    @Test func `needs a known authority and the right name`() async throws {
        let server = try TrustedServer()
        defer { server.stop() }
        let url = "https://127.0.0.1:\(server.port)/"
        #expect(await answer(url, server.certificate) == .success(200))
        #expect(await answer(url, nil) == .failure(.notTrusted))
        // The certificate is for the address only.
        let otherName = "https://localhost:\(server.port)/"
        #expect(await answer(otherName, server.certificate) == .failure(.notTrusted))
    }
}

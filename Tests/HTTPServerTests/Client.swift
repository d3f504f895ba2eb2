import Glibc

/// A blocking client that sends exactly the bytes it's told to. One thread at a time uses it.
final class Client: @unchecked Sendable {
    struct Failure: Error {
        let call: String
        let code = errno
    }

    /// What came back: one message.
    struct Answer {
        var status = 0
        var headers: [(name: String, value: String)] = []
        var body = ""

        subscript(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    let descriptor: Int32
    private var received: [UInt8] = []

    /// Long enough for a busy machine; a test that reaches it fails.
    private static let waitSeconds = 5

    init(port: UInt16, receiveBufferBytes: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket") }
        if var bytes = receiveBufferBytes {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, 4)
        }
        var wait = timeval(tv_sec: Client.waitSeconds, tv_usec: 0)
        let waitLength = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, waitLength)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, waitLength)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure(call: "connect") }
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(call: "send") }
            sent += count
        }
    }

    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Has the socket reset the connection when it's closed.
    func resetWhenClosed() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// Reads the next answer, and its body unless it answers HEAD.
    func answer(toHEAD: Bool = false) throws -> Answer {
        var answer = Answer()
        let statusLine = try line().split(separator: " ")
        guard statusLine.count >= 2, statusLine[0] == "HTTP/1.1", let status = Int(statusLine[1])
        else { throw Failure(call: "status line") }
        answer.status = status
        while true {
            let field = try line()
            if field.isEmpty { break }
            guard let colon = field.firstIndex(of: ":") else { throw Failure(call: "field") }
            let value = field[field.index(after: colon)...].drop { $0 == " " }
            answer.headers.append((String(field[..<colon]), String(value)))
        }
        let length = answer["Content-Length"].flatMap { Int($0) } ?? 0
        if answer["Transfer-Encoding"] == "chunked" {
            answer.body = try chunkedText()
        } else if !toHEAD, status >= 200 {
            answer.body = try text(length)
        }
        return answer
    }

    private func chunkedText() throws -> String {
        var whole = ""
        while true {
            guard let length = Int(try line(), radix: 16) else { throw Failure(call: "chunk") }
            whole += try text(length)
            guard try line().isEmpty else { throw Failure(call: "end of a chunk") }
            if length == 0 { return whole }
        }
    }

    /// What has arrived; nil at the end of the stream.
    func more() throws -> String? {
        if received.isEmpty {
            guard let more = receive() else { throw Failure(call: "recv") }
            if more == 0 { return nil }
        }
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
    }

    /// Everything up to the end of the stream; nil if it doesn't come.
    func rest() -> String? {
        while true {
            guard let more = receive() else { return nil }
            if more == 0 { break }
        }
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
    }

    /// Whether the server ends the connection, by a close or a reset, with nothing left to read.
    func isEnded() -> Bool {
        errno = 0
        guard let more = receive() else { return errno == ECONNRESET }
        return more == 0 && received.isEmpty
    }

    /// Whether the stream ends or is reset, whatever came before.
    func comesToAnEnd() -> Bool {
        while true {
            errno = 0
            guard let more = receive() else { return errno == ECONNRESET }
            if more == 0 { return true }
        }
    }

    /// Whether there is something to read, or the end, before the time is over.
    func isReadable(withinMilliseconds milliseconds: Int32) -> Bool {
        if !received.isEmpty { return true }
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, milliseconds) > 0
    }

    private func line() throws -> String {
        while true {
            if let end = received.firstIndex(of: 0x0A) {
                let line = received[..<end]
                received.removeFirst(end + 1)
                return String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
            }
            guard let more = receive(), more > 0 else { throw Failure(call: "recv in a head") }
        }
    }

    private func text(_ length: Int) throws -> String {
        while received.count < length {
            guard let more = receive(), more > 0 else { throw Failure(call: "recv in a body") }
        }
        defer { received.removeFirst(length) }
        return String(decoding: received[..<length], as: UTF8.self)
    }

    private func receive() -> Int? {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { return nil }
        received.append(contentsOf: buffer[..<count])
        return count
    }
}

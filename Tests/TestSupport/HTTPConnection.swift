package import Base
import Glibc

/// A blocking HTTP/1.1 client on one connection that stays open. It sends what it's told to, byte
/// for byte, so that it can be as wrong as a test needs. One thread at a time uses it.
package final class HTTPConnection: @unchecked Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(_ call: String) { description = "\(call): \(SystemMessage.last)" }
    }

    package let descriptor: Int32
    private var received: [UInt8] = []

    /// Connects to a port of this machine. No call blocks for longer than `waitSeconds`, which is
    /// long enough for a busy machine; a test that reaches it fails.
    ///
    /// - Parameter receiveBufferBytes: what the kernel keeps of answers that aren't read.
    package init(port: UInt16, waitSeconds: Int = 30, receiveBufferBytes: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        if var bytes = receiveBufferBytes {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, 4)
        }
        var wait = timeval(tv_sec: waitSeconds, tv_usec: 0)
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
        guard connected == 0 else { throw Failure("connect") }
    }

    deinit { close(descriptor) }

    /// Sends a request and reads its answer.
    package func ask(_ request: HTTPQuestion) throws -> HTTPAnswer {
        try send(request.bytes)
        return try answer(toHEAD: request.method == "HEAD")
    }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure("send") }
            sent += count
        }
    }

    /// Tells the server that nothing more comes.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Has the socket reset the connection when it's closed.
    package func resetWhenClosed() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// Reads the next answer, and its body unless it answers HEAD.
    package func answer(toHEAD: Bool = false) throws -> HTTPAnswer {
        let statusLine = try line().split(separator: " ")
        guard statusLine.count >= 2, statusLine[0] == "HTTP/1.1", let status = Int(statusLine[1])
        else { throw Failure("status line") }
        var answer = HTTPAnswer(status: status)
        while true {
            let field = try line()
            if field.isEmpty { break }
            guard let colon = field.firstIndex(of: ":") else { throw Failure("field") }
            let value = field[field.index(after: colon)...].drop { $0 == " " }
            answer.headers.append((String(field[..<colon]), String(value)))
        }
        let length = answer["Content-Length"].flatMap { Int($0) } ?? 0
        if answer["Transfer-Encoding"]?.lowercased() == "chunked" {
            answer.body = try chunks()
        } else if !toHEAD, status >= 200, status != 304 {
            answer.body = try bytes(length)
        }
        return answer
    }

    private func chunks() throws -> [UInt8] {
        var whole: [UInt8] = []
        while true {
            guard let length = Int(try line(), radix: 16) else { throw Failure("chunk") }
            whole += try bytes(length)
            guard try line().isEmpty else { throw Failure("end of a chunk") }
            if length == 0 { return whole }
        }
    }

    /// What has arrived; nil at the end of the stream.
    package func more() throws -> String? {
        if received.isEmpty {
            guard let more = receive() else { throw Failure("recv") }
            if more == 0 { return nil }
        }
        return takeReceived()
    }

    /// Everything up to the end of the stream; nil if it doesn't come.
    package func rest() -> String? {
        while true {
            guard let more = receive() else { return nil }
            if more == 0 { return takeReceived() }
        }
    }

    private func takeReceived() -> String {
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
    }

    /// Whether the stream ends or is reset, whatever came before.
    package func comesToAnEnd() -> Bool {
        while true {
            errno = 0
            guard let more = receive() else { return errno == ECONNRESET }
            if more == 0 { return true }
        }
    }

    /// Whether there is something to read, or the end, before the time is over.
    package func isReadable(withinMilliseconds milliseconds: Int32) -> Bool {
        if !received.isEmpty { return true }
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, milliseconds) > 0
    }

    /// Whether the server ends the connection, by a close or a reset, with nothing left to read.
    package func isEnded() -> Bool {
        errno = 0
        guard let more = receive() else { return errno == ECONNRESET }
        return more == 0 && received.isEmpty
    }

    private func line() throws -> String {
        var searched = 0
        while true {
            if let end = received[searched...].firstIndex(of: 0x0A) {
                let line = received[..<end]
                received.removeFirst(end + 1)
                return String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
            }
            searched = received.count
            guard let more = receive(), more > 0 else { throw Failure("recv in a head") }
        }
    }

    private func bytes(_ length: Int) throws -> [UInt8] {
        while received.count < length {
            guard let more = receive(), more > 0 else { throw Failure("recv in a body") }
        }
        defer { received.removeFirst(length) }
        return Array(received[..<length])
    }

    private func receive() -> Int? {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { return nil }
        received.append(contentsOf: buffer[..<count])
        return count
    }
}

/// A request as a test writes it.
package struct HTTPQuestion: Sendable {
    package var method: String
    package var path: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(
        _ method: String, _ path: String, headers: [(name: String, value: String)] = [],
        body: [UInt8] = []
    ) {
        (self.method, self.path, self.headers, self.body) = (method, path, headers, body)
    }

    package var bytes: [UInt8] {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
        for header in headers { head += "\(header.name): \(header.value)\r\n" }
        if !body.isEmpty || method == "POST" || method == "PUT" {
            head += "Content-Length: \(body.count)\r\n"
        }
        return Array((head + "\r\n").utf8) + body
    }
}

/// What came back.
package struct HTTPAnswer: Sendable {
    package let status: Int
    package fileprivate(set) var headers: [(name: String, value: String)] = []
    package fileprivate(set) var body: [UInt8] = []

    package init(
        status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    package subscript(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON; null if it isn't.
    package var json: JSON { (try? JSON.parse(body)) ?? .null }

    /// The code of a problem.
    package var code: String? { json["code"]?.string }
}

private enum SystemMessage {
    static var last: String { String(cString: strerror(errno)) }
}

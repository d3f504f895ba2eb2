internal import CMicroHTTPD
import Glibc
import Telemetry

/// How responses become bytes.
extension HTTPServer {
    /// Gives the library a response to write. Only in its access callback.
    func queue(
        _ response: HTTPResponse, _ exchange: Exchange, _ pointer: OpaquePointer
    ) -> MHD_Result {
        if response.isReset {
            discardOnClose(exchange.connection)
            return .NO
        }
        exchange.connection.enter(.writing, until: deadline(configuration.limits.writeSeconds))
        guard let made = unsafe make(response, exchange, pointer) else { return .NO }
        defer { unsafe MHD_destroy_response(made) }
        for (name, value) in response.headers
        where unsafe MHD_add_response_header(made, name, value) != .YES {
            log.error("response header refused by the library", ["http.header": name])
        }
        if exchange.stage == .refused || drain != nil {
            unsafe MHD_add_response_header(made, "Connection", "close")
        }
        let result = unsafe MHD_queue_response(
            pointer, UInt32(HTTPServer.sendable(response.status)), made)
        if result == .YES, let producer = response.producer { exchange.stream?.start(producer) }
        return result
    }

    private func make(
        _ response: HTTPResponse, _ exchange: Exchange, _ pointer: OpaquePointer
    ) -> OpaquePointer? {
        if response.producer != nil {
            let stream = unsafe ResponseStream(self, exchange, pointer)
            exchange.stream = stream
            return unsafe stream.makeResponse()
        }
        return unsafe response.body.withUnsafeBytes { bytes in
            unsafe MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                .RESPMEM_MUST_COPY)
        }
    }

    /// Writes a refusal straight to the socket, in a phase where the library would take none.
    ///
    /// Nothing else is on its way then: the library answers requests one after the other, and to
    /// this one it hasn't begun. What doesn't fit into the socket's buffer is lost.
    func sendRefusal(_ refusal: HTTPRefusal, on connection: Connection) {
        log.debug("request refused", ["http.refusal": refusal.code])
        let bytes = HTTPServer.bytes(of: configuration.refusal(refusal))
        _ = unsafe bytes.withUnsafeBytes {
            unsafe send(
                connection.descriptor, $0.baseAddress, $0.count,
                Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        }
        lingering.add(connection.descriptor)
        lingering.finish(connection.descriptor)
    }

    private static func bytes(of response: HTTPResponse) -> [UInt8] {
        let status = sendable(response.status)
        let reason =
            unsafe MHD_get_reason_phrase_for(UInt32(status)).map { unsafe String(cString: $0) }
            ?? ""
        var head = "HTTP/1.1 \(status) \(reason)\r\n"
        for (name, value) in response.headers where isClean(name) && isClean(value) {
            head += "\(name): \(value)\r\n"
        }
        head += "Connection: close\r\nContent-Length: \(response.body.count)\r\n\r\n"
        return Array(head.utf8) + response.body
    }

    private static func isClean(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 } }

    private static func sendable(_ status: Int) -> Int {
        (200...599).contains(status) ? status : 500
    }
}

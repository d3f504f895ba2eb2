internal import CMicroHTTPD

/// The library's callbacks, which turn its pointers into this module's objects.
///
/// It keeps one reference to each `Connection` (its socket context) and to each `Exchange` (its
/// request context), and gives them back when it says that they are over.
enum Callbacks {
    static let notify: MHD_NotifyConnectionCallback = { context, pointer, slot, code in
        guard let server = unsafe server(context), let pointer = unsafe pointer,
            let slot = unsafe slot
        else { return }
        if code.rawValue == 0 {
            let connection = unsafe server.opened(descriptor: chttp_descriptor(pointer))
            unsafe slot.pointee = unsafe Unmanaged.passRetained(connection).toOpaque()
        } else if let held = unsafe slot.pointee {
            unsafe slot.pointee = nil
            unsafe server.closed(Unmanaged<Connection>.fromOpaque(held).takeRetainedValue())
        }
    }

    static let target: chttp_target_callback = { context, target, pointer in
        guard let server = unsafe server(context), let pointer = unsafe pointer,
            let target = unsafe target,
            let held = unsafe chttp_context(pointer)
        else { return nil }
        let connection = unsafe Unmanaged<Connection>.fromOpaque(held).takeUnretainedValue()
        let exchange = unsafe server.began(target: String(cString: target), on: connection)
        return unsafe Unmanaged.passRetained(exchange).toOpaque()
    }

    static let access: MHD_AccessHandlerCallback = {
        context, pointer, _, method, version, part, partCount, slot in
        guard let server = unsafe server(context), let pointer = unsafe pointer,
            let held = unsafe slot?.pointee, let partCount = unsafe partCount
        else { return .NO }
        let exchange = unsafe Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
        switch exchange.stage {
        case .head:
            return unsafe server.received(
                head: pointer, method: text(method), version: text(version), of: exchange)
        case .body where unsafe partCount.pointee > 0:
            let bytes = unsafe UnsafeRawBufferPointer(start: part, count: partCount.pointee)
            unsafe partCount.pointee = 0
            return unsafe server.received(part: bytes, of: exchange)
        case .body:
            return unsafe server.completed(exchange, pointer)
        case .answered, .refused:
            guard let response = exchange.response else { return .NO }
            return unsafe server.queue(response, exchange, pointer)
        case .handling:
            // Asked about a connection that isn't suspended yet.
            return .YES
        }
    }

    static let completed: MHD_RequestCompletedCallback = { context, _, slot, _ in
        guard let server = unsafe server(context), let slot = unsafe slot,
            let held = unsafe slot.pointee
        else { return }
        unsafe slot.pointee = nil
        unsafe server.ended(Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue())
    }

    /// All header fields of a request, repeated ones too.
    static func headers(of pointer: OpaquePointer) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers.reserveCapacity(8)
        unsafe withUnsafeMutablePointer(to: &headers) { headers in
            _ = unsafe MHD_get_connection_values_n(
                pointer, .HEADER_KIND,
                { headers, _, name, nameBytes, value, valueBytes in
                    unsafe headers?.assumingMemoryBound(to: HTTPHeaders.self).pointee.append(
                        name: Callbacks.text(name, nameBytes),
                        value: Callbacks.trimmed(value, valueBytes))
                    return .YES
                }, unsafe headers)
        }
        return headers
    }

    private static func server(_ context: UnsafeMutableRawPointer?) -> HTTPServer? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    }

    private static func text(_ start: UnsafePointer<CChar>?) -> String {
        unsafe start.map { unsafe String(cString: $0) } ?? ""
    }

    /// Bytes that aren't UTF-8 become the replacement character.
    private static func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The library takes white space from the front of a value only (RFC 9112, section 5.1).
    private static func trimmed(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        var end = count
        while end > 0, unsafe bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        return unsafe text(start, end)
    }
}

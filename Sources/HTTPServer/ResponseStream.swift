internal import CMicroHTTPD
import EventLoop

/// A body on its way from its producer to the library, no more than `bytesMax` of it at a time.
@safe final class ResponseStream: @unchecked Sendable {
    // Sendable: everything happens on the loop's thread, and `write` says so where the producer
    // comes in.
    private let server: HTTPServer
    private let exchange: Exchange
    private let connection: OpaquePointer
    private var waiting: [UInt8] = []
    private var isFinished = false
    private var isAbandoned = false
    private var writer: CheckedContinuation<Void, Never>?

    /// Beyond it the producer waits for the client.
    private static let bytesMax = 256 * 1024
    /// What the library asks for at once.
    private static let blockBytes = 16 * 1024

    /// - Parameter connection: good until the exchange has ended.
    init(_ server: HTTPServer, _ exchange: Exchange, _ connection: OpaquePointer) {
        self.server = server
        self.exchange = exchange
        unsafe self.connection = unsafe connection
    }

    /// A response that asks this stream for its body. The library lets go of both when it's over.
    func makeResponse() -> OpaquePointer? {
        // Released in the last callback.
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let made = unsafe MHD_create_response_from_callback(
            UInt64.max, ResponseStream.blockBytes,
            { context, _, buffer, count in
                guard let context = unsafe context, let buffer = unsafe buffer else { return -2 }
                let stream = unsafe Unmanaged<ResponseStream>.fromOpaque(context)
                    .takeUnretainedValue()
                let memory = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: count)
                return unsafe stream.read(memory)
            }, context,
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<ResponseStream>.fromOpaque(context).release()
            })
        if unsafe made == nil { unsafe Unmanaged<ResponseStream>.fromOpaque(context).release() }
        return unsafe made
    }

    func start(_ producer: @escaping HTTPBodyProducer) {
        server.loop.immediate { [self] in
            await producer { await self.write($0) }
            isFinished = true
            server.resume(exchange)
        }
    }

    /// Waits while the client is slow; false once it has left.
    private func write(_ bytes: [UInt8]) async -> Bool {
        server.loop.preconditionInLoop()
        guard !isAbandoned else { return false }
        waiting += bytes
        server.resume(exchange)
        if waiting.count > ResponseStream.bytesMax {
            precondition(writer == nil, "a body is written by one task")
            await withCheckedContinuation { writer = $0 }
        }
        return !isAbandoned
    }

    /// Nobody reads on: the connection ends, and the producer is told at its next `write`.
    func abandon() {
        isAbandoned = true
        waiting = []
        letWriterGo()
        server.resume(exchange)
    }

    /// Copies what is there. Where nothing is, the connection is suspended until something is.
    private func read(_ memory: UnsafeMutableRawBufferPointer) -> Int {
        let endOfStream = -1
        let endWithError = -2
        if isAbandoned { return endWithError }
        let count = min(waiting.count, memory.count)
        if count > 0 {
            unsafe memory.copyBytes(from: waiting[..<count])
            waiting.removeFirst(count)
            if waiting.count <= ResponseStream.bytesMax / 2 { letWriterGo() }
            server.progressed(exchange, .writing)
            return count
        }
        if isFinished { return endOfStream }
        server.progressed(exchange, .producing)
        unsafe exchange.pointer = unsafe connection
        exchange.isSuspended = true
        unsafe MHD_suspend_connection(connection)
        return 0
    }

    private func letWriterGo() {
        writer?.resume()
        writer = nil
    }
}

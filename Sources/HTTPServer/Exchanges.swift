internal import CMicroHTTPD
import EventLoop
import Telemetry

/// What happens to a request between its first byte and its last, as the library reports it.
extension HTTPServer {
    func opened(descriptor: Int32) -> Connection {
        let connection = Connection(
            descriptor: descriptor, deadline: deadline(configuration.limits.idleSeconds))
        connections[descriptor] = connection
        return connection
    }

    func closed(_ connection: Connection) {
        connections[connection.descriptor] = nil
        lingering.finish(connection.descriptor)
        madeRoom()
    }

    /// The request line has been read; `target` is as it was sent.
    func began(target: String, on connection: Connection) -> Exchange {
        let exchange = Exchange(connection: connection, target: target)
        connection.exchange = exchange
        connection.enter(.head, until: deadline(configuration.limits.headSeconds))
        return exchange
    }

    func ended(_ exchange: Exchange) {
        bodyBytesHeld -= exchange.bodyBytesHeld
        exchange.bodyBytesHeld = 0
        // The library's connection isn't good any more.
        unsafe exchange.pointer = nil
        exchange.stream?.abandon()
        exchange.stream = nil
        let connection = exchange.connection
        connection.exchange = nil
        connection.enter(.idle, until: deadline(configuration.limits.idleSeconds))
        if drain != nil { hangUp(connection) }
    }

    /// The head has been read.
    func received(
        head pointer: OpaquePointer, method: String, version: String, of exchange: Exchange
    ) -> MHD_Result {
        // Its bytes were underway when the connection was hung up. The library wouldn't send a late
        // answer on it, so that the request mustn't be handled.
        if exchange.connection.isHungUp { return unsafe refuse(.shuttingDown, exchange, pointer) }
        exchange.stage = .body
        exchange.method = method
        exchange.headers = unsafe Callbacks.headers(of: pointer)
        let check = unsafe HeadCheck(
            method: method, target: exchange.target, version: version,
            headers: exchange.headers, headBytes: chttp_head_bytes(pointer),
            limits: configuration.limits)
        do throws(HeadCheck.Refused) {
            exchange.accepted = try check.accept()
        } catch {
            return unsafe refuse(error.refusal, exchange, pointer)
        }
        exchange.connection.enter(.body, until: deadline(configuration.limits.bodySeconds))
        return .YES
    }

    /// A part of the body has been read.
    func received(part: UnsafeRawBufferPointer, of exchange: Exchange) -> MHD_Result {
        let limits = configuration.limits
        // A chunked body announces no length.
        let bytesMax = exchange.accepted?.bodyBytesMax ?? limits.bodyBytesMax
        guard part.count <= bytesMax - exchange.body.count else {
            return cutOff(exchange, .bodyTooLarge)
        }
        guard part.count <= limits.bodyBytesTotalMax - bodyBytesHeld else {
            return cutOff(exchange, .overloaded)
        }
        bodyBytesHeld += part.count
        exchange.bodyBytesHeld += part.count
        unsafe exchange.body.append(contentsOf: part)
        return .YES
    }

    /// The request is complete: asks the handler.
    func completed(_ exchange: Exchange, _ pointer: OpaquePointer) -> MHD_Result {
        if drain?.isOver == true { return unsafe refuse(.shuttingDown, exchange, pointer) }
        guard let request = exchange.takeRequest() else { return .NO }
        exchange.stage = .handling
        exchange.connection.enter(
            .handling, until: deadline(configuration.limits.handlerSeconds))
        loop.immediate { [self] in
            let response = await handler(request)
            finish(exchange, response)
        }
        if let response = exchange.response { return unsafe queue(response, exchange, pointer) }
        unsafe exchange.pointer = unsafe pointer
        // What comes with a body is more than a question, and takes longer.
        if request.body.isEmpty { hold(exchange) } else { suspend(exchange) }
        return .YES
    }

    /// The handler has returned, unless its time is over and the client has its answer.
    private func finish(_ exchange: Exchange, _ response: HTTPResponse) {
        loop.preconditionInLoop()
        guard exchange.stage == .handling else { return }
        exchange.stage = .answered
        exchange.response = response
        resume(exchange)
    }

    /// Answers a suspended request in the handler's place.
    func giveUp(_ exchange: Exchange, _ refusal: HTTPRefusal) {
        guard exchange.stage == .handling else { return }
        exchange.stage = .refused
        exchange.response = configuration.refusal(refusal)
        log.debug("request refused", ["http.refusal": refusal.code])
        resume(exchange)
    }

    /// Refuses a request where the library takes an answer: at the end of its head or of its body.
    private func refuse(
        _ refusal: HTTPRefusal, _ exchange: Exchange, _ pointer: OpaquePointer
    ) -> MHD_Result {
        exchange.stage = .refused
        log.debug("request refused", ["http.refusal": refusal.code])
        lingering.add(exchange.connection.descriptor)
        let response = configuration.refusal(refusal)
        exchange.response = response
        return unsafe queue(response, exchange, pointer)
    }

    /// Refuses a request in the middle of its body, where the library takes no answer.
    private func cutOff(_ exchange: Exchange, _ refusal: HTTPRefusal) -> MHD_Result {
        exchange.stage = .refused
        sendRefusal(refusal, on: exchange.connection)
        return .NO
    }

    /// A part of a streamed answer is on its way, or has to be made first.
    func progressed(_ exchange: Exchange, _ phase: Connection.Phase) {
        let limits = configuration.limits
        let seconds = phase == .producing ? limits.handlerSeconds : limits.writeSeconds
        exchange.connection.enter(phase, until: deadline(seconds))
    }

    func deadline(_ seconds: Double) -> Int64 { now + HTTPLimits.milliseconds(seconds) }
}

import Base
import TestSupport

/// Asks many questions over a few connections.
enum Pipeline {
    /// How often each status came; 0 stands for a connection that was ended without an answer.
    typealias Statuses = [Int: Int]

    /// Each request is complete, so that its connection serves the next one.
    static func ask(_ port: UInt16, _ requests: [[UInt8]]) throws -> Statuses {
        var statuses: Statuses = [:]
        for answer in try answers(port, requests, connections: 8) {
            statuses[answer.status, default: 0] += 1
        }
        return statuses
    }

    /// The answers in the order of the requests.
    static func answers(
        _ port: UInt16, _ requests: [[UInt8]], connections: Int
    ) throws -> [HTTPAnswer] {
        let results = Lock<[Int: HTTPAnswer]>([:])
        _ = try inParallel(connections) { client in
            var connection = try HTTPConnection(port: port)
            for index in stride(from: client, to: requests.count, by: connections) {
                try connection.send(requests[index])
                let answer = try connection.answer()
                results.withLock { $0[index] = answer }
                if answer["Connection"]?.lowercased() == "close" {
                    connection = try HTTPConnection(port: port)
                }
            }
        }
        let found = results.withLock { $0 }
        return requests.indices.compactMap { found[$0] }
    }

    /// Each request may be anything, so that it gets a connection of its own and nothing after it.
    static func askEachOnItsOwn(_ port: UInt16, _ requests: [[UInt8]]) throws -> Statuses {
        let clients = 8
        let parts = try inParallel(clients) { client in
            var statuses: Statuses = [:]
            for index in stride(from: client, to: requests.count, by: clients) {
                let connection = try HTTPConnection(port: port)
                // The service may have refused it before it was sent.
                try? connection.send(requests[index])
                connection.finishSending()
                statuses[(try? connection.answer().status) ?? 0, default: 0] += 1
            }
            return statuses
        }
        return parts.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }
}

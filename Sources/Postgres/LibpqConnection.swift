import CPostgres

/// libpq's connection, which nothing else touches; it's confined to the event loop.
@safe final class LibpqConnection: @unchecked Sendable {
    // Sendable, because its users call it on their loop's thread only.
    private let connection: OpaquePointer
    private var isFinished = false

    /// What a connection in the making waits for.
    enum Progress {
        case reading, writing, done, failed
    }

    /// What came for the statement at the head of the pipeline.
    enum Answer {
        case rows(PostgresRows)
        /// Everything up to a synchronisation point is committed or rolled back.
        case synchronised
        case aborted
        case refused(PostgresError)
        /// The connection has ended.
        case lost
        case unexpected(String)
    }

    /// Begins to connect; nil if there is no memory for that.
    init?(_ fields: [(name: String, value: String)]) {
        let started = unsafe withCStringArray(fields.map(\.name)) { names in
            unsafe withCStringArray(fields.map(\.value)) { values in
                unsafe PQconnectStartParams(names, values, 0)
            }
        }
        guard let begun = unsafe started else { return nil }
        unsafe connection = unsafe begun
        // Notices would go to standard error.
        unsafe PQsetNoticeReceiver(connection, { _, _ in }, nil)
    }

    deinit { finish() }

    /// Closes the socket and frees everything.
    func finish() {
        guard !isFinished else { return }
        isFinished = true
        unsafe PQfinish(connection)
    }

    /// The socket, which may change until the connection is made.
    var socket: Int32 { unsafe PQsocket(connection) }

    var isBad: Bool { unsafe PQstatus(connection) == CONNECTION_BAD }

    /// What libpq says about the last failure, in one line.
    var message: String {
        guard let text = unsafe PQerrorMessage(connection) else { return "" }
        return unsafe String(cString: text).split(separator: "\n").joined(separator: "; ")
    }

    func poll() -> Progress {
        switch unsafe PQconnectPoll(connection) {
        case PGRES_POLLING_OK: .done
        case PGRES_POLLING_READING: .reading
        case PGRES_POLLING_WRITING: .writing
        default: .failed
        }
    }

    func beginPipeline() -> Bool {
        unsafe PQsetnonblocking(connection, 1) == 0 && PQenterPipelineMode(connection) == 1
    }

    /// Only when nothing is outstanding.
    func endPipeline() -> Bool { unsafe PQexitPipelineMode(connection) == 1 }

    func sendScript(_ sql: String) -> Bool { unsafe PQsendQuery(connection, sql) == 1 }

    func sendPrepare(_ statement: PostgresStatement, _ types: [Oid]) -> Bool {
        unsafe PQsendPrepare(connection, statement.name, statement.sql, Int32(types.count), types)
            == 1
    }

    /// Parameters and results are binary.
    func sendExecute(_ statement: PostgresStatement, _ parameters: borrowing ParameterBuffer)
        -> Bool
    {
        unsafe parameters.withPointers { count, values, lengths, formats in
            unsafe PQsendQueryPrepared(
                connection, statement.name, count, values, lengths, formats, 1) == 1
        }
    }

    func sendSync() -> Bool { unsafe PQpipelineSync(connection) == 1 }

    /// Writes what can be written; true if some is left, nil if the connection is lost.
    func flush() -> Bool? {
        switch unsafe PQflush(connection) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    /// Reads what there is; false if the connection is lost.
    func consume() -> Bool { unsafe PQconsumeInput(connection) == 1 }

    /// Whether `next` would have to wait.
    var isBusy: Bool { unsafe PQisBusy(connection) == 1 }

    /// The next answer, or nil at the end of a statement's and when nothing is outstanding.
    func next() -> Answer? {
        guard let result = unsafe PQgetResult(connection) else { return nil }
        switch unsafe PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            // Takes the result over.
            return unsafe .rows(PostgresRows(result))
        case let status:
            defer { unsafe PQclear(result) }
            switch status {
            case PGRES_PIPELINE_SYNC: return .synchronised
            case PGRES_PIPELINE_ABORTED: return .aborted
            case PGRES_FATAL_ERROR: return unsafe failure(result)
            default: return .unexpected("a result of status \(status.rawValue)")
            }
        }
    }

    private func failure(_ result: OpaquePointer) -> Answer {
        func field(_ code: Character) -> String? {
            let text = unsafe code.asciiValue.flatMap {
                unsafe PQresultErrorField(result, Int32($0))
            }
            return unsafe text.map { unsafe String(cString: $0) }
        }
        // Without a code it's libpq's own error: the connection broke. FATAL ends the session.
        guard let code = field("C"), let severity = field("V"), severity == "ERROR" else {
            return .lost
        }
        return .refused(
            .server(
                code: code, message: field("M") ?? "", detail: field("D"),
                constraint: field("n")))
    }
}

/// Calls `body` with a null-terminated array of C strings that lives as long as the call.
private func withCStringArray<Value>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
) -> Value {
    var bytes: [CChar] = []
    var offsets: [Int] = []
    for string in strings {
        offsets.append(bytes.count)
        bytes.append(contentsOf: string.utf8CString)
    }
    return unsafe bytes.withUnsafeBufferPointer { bytes in
        var pointers = unsafe offsets.map { offset in
            unsafe bytes.baseAddress.map { unsafe $0 + offset }
        }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else {
                preconditionFailure("an array that isn't empty has an address")
            }
            return unsafe body(base)
        }
    }
}

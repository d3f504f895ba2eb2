import Base
import CCurl

/// The thread on which libcurl works, with a mailbox in front of it.
@safe final class TransferThread: @unchecked Sendable {
    // Sendable: callers touch the mailbox only, and `multi` only to wake the thread up, which
    // libcurl allows, and only while the mailbox is open; the rest belongs to the thread.
    private struct Mailbox {
        var submissions: [Submission] = []
        /// Requests that weren't answered yet.
        var requests = 0
        var isStopped = false
    }

    private let limits: HTTPClientLimits
    private let authorityFile: String?
    private let mailbox = Lock(Mailbox())
    private var transfers: [UnsafeMutableRawPointer: Transfer] = unsafe [:]
    /// Freed by the thread when it ends.
    private let multi: UnsafeMutableRawPointer

    /// A wake-up comes for everything that has to be done, so this is only a safety net.
    private static let waitMillisecondsMax: Int32 = 1000

    /// Once for the whole process, as libcurl asks for.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(limits: HTTPClientLimits, authorityFile: String?) {
        precondition(TransferThread.isReady, "libcurl can't be set up")
        guard let multi = unsafe curl_multi_init() else {
            preconditionFailure("libcurl has no memory for a client")
        }
        unsafe curl_multi_set_long(
            multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, limits.connectionsMax)
        unsafe self.multi = multi
        self.limits = limits
        self.authorityFile = authorityFile
    }

    func start() { Thread.start { self.run() } }

    func submit(_ submission: Submission) {
        let refusal: HTTPClientError? = mailbox.withLock { mailbox in
            if mailbox.isStopped { return .stopped }
            if mailbox.requests >= limits.requestsMax { return .tooManyRequests }
            mailbox.requests += 1
            mailbox.submissions.append(submission)
            if mailbox.submissions.count == 1 { unsafe curl_multi_wakeup(multi) }
            return nil
        }
        if let refusal { submission.continuation.resume(returning: .failure(refusal)) }
    }

    func stop() {
        mailbox.withLock { mailbox in
            guard !mailbox.isStopped else { return }
            mailbox.isStopped = true
            unsafe curl_multi_wakeup(multi)
        }
    }

    private func run() {
        while takeMail() {
            var running: Int32 = 0
            unsafe curl_multi_perform(multi, &running)
            finishEnded()
            unsafe curl_multi_poll(multi, nil, 0, TransferThread.waitMillisecondsMax, nil)
        }
        let rest = unsafe Array(transfers.values)
        for transfer in rest { end(transfer) { $0.fail(.stopped) } }
        unsafe curl_multi_cleanup(multi)
    }

    /// Starts what was submitted; false once the client is stopped.
    private func takeMail() -> Bool {
        let (submissions, isStopped) = mailbox.withLock { mailbox in
            defer { mailbox.submissions = [] }
            return (mailbox.submissions, mailbox.isStopped)
        }
        for submission in submissions {
            if isStopped {
                submission.continuation.resume(returning: .failure(.stopped))
                release()
            } else {
                begin(submission)
            }
        }
        return !isStopped
    }

    private func begin(_ submission: Submission) {
        guard let transfer = Transfer(submission, limits: limits, authorityFile: authorityFile)
        else { return release() }
        guard unsafe curl_multi_add_handle(multi, transfer.handle) == CURLM_OK else {
            transfer.fail(.invalidRequest)
            return release()
        }
        unsafe transfers[transfer.handle] = transfer
    }

    private func finishEnded() {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            let result = unsafe curl_message_result(message)
            // The message is gone once its handle is removed.
            guard result >= 0, let handle = unsafe message.pointee.easy_handle,
                let transfer = unsafe transfers[handle]
            else { continue }
            end(transfer) { $0.finish(CURLcode(UInt32(result))) }
        }
    }

    private func end(_ transfer: Transfer, _ answer: (Transfer) -> Void) {
        unsafe curl_multi_remove_handle(multi, transfer.handle)
        unsafe transfers[transfer.handle] = nil
        // Before the answer, so that a caller who has it may send again.
        release()
        answer(transfer)
    }

    private func release() { mailbox.withLock { $0.requests -= 1 } }
}

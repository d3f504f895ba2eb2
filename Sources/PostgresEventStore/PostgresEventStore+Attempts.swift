package import CoinLedger
package import EventStore
import Postgres

extension PostgresEventStore: AttemptStore {
    package func record(_ post: FailedPost) async throws(EventStoreError) {
        let purchases = post.refusals.map(\.purchase)
        let parameters: [PostgresValue] = [
            .text(post.account.text), .bool(post.isClaimed), .bytea(post.receiptSHA256),
            post.receipt.map { .bytea($0) } ?? .null,
            .timestamptz(milliseconds: post.time.milliseconds), .int8(Int64(FailedPost.keptMax)),
            .textArray(post.refusals.map(\.code)),
            .textArray(post.refusals.map { post.subject(of: $0) }),
            .nullableTextArray(purchases.map { $0?.transactionID.text }),
            .nullableTextArray(purchases.map { $0?.environment?.rawValue }),
            .nullableTextArray(purchases.map { $0?.productID }),
            .nullableTimestamptzArray(
                milliseconds: purchases.map { $0?.purchasedAt?.milliseconds }),
        ]
        try await reading { () throws(PostgresError) in
            _ = try await readers.execute(Statements.recordAttempts, parameters)
        }
    }

    package func attempts(
        of transaction: TransactionID, limit: Int
    ) async throws(EventStoreError) -> [KeptAttempt] {
        try await attempts(
            Statements.transactionAttempts, [.text(transaction.text), .int8(Int64(limit))])
    }

    package func attempts(
        of account: AccountID, where filter: AttemptFilter, limit: Int
    ) async throws(EventStoreError) -> [KeptAttempt] {
        try await attempts(
            Statements.accountAttempts,
            [
                .text(account.text), .timestamptz(milliseconds: filter.from.milliseconds),
                .timestamptz(milliseconds: filter.until.milliseconds),
                filter.productID.map { .text($0) } ?? .null, .int8(Int64(limit)),
            ])
    }

    package func forgetAttempts(
        before time: Timestamp, limit: Int
    ) async throws(EventStoreError) -> Int {
        try await reading { () throws(PostgresError) -> Int in
            let rows = try await background.execute(
                Statements.forgetAttempts,
                [.timestamptz(milliseconds: time.milliseconds), .int8(Int64(limit))])
            return Int(try rows.int8(0, 0))
        }
    }

    private func attempts(
        _ statement: PostgresStatement, _ parameters: [PostgresValue]
    ) async throws(EventStoreError) -> [KeptAttempt] {
        try await reading { () throws(PostgresError) -> [KeptAttempt] in
            let rows = try await readers.read([(statement, parameters)])[0]
            var attempts: [KeptAttempt] = []
            for row in 0..<rows.count { attempts.append(try KeptAttempt(rows, row)) }
            return attempts
        }
    }
}

extension KeptAttempt {
    fileprivate init(_ rows: PostgresRows, _ row: Int) throws(PostgresError) {
        self.init(
            account: try rows.account(row, 0),
            refusal: FailedPost.Refusal(
                code: try rows.text(row, 1), purchase: try AttemptedPurchase(rows, row)),
            isClaimed: try rows.bool(row, 2), receiptSHA256: try rows.bytes(row, 7),
            hasReceipt: try rows.bool(row, 8), firstAt: try rows.instant(row, 9),
            lastAt: try rows.instant(row, 10), count: try rows.int8(row, 11))
    }
}

extension AttemptedPurchase {
    /// Nil where no transaction is known.
    fileprivate init?(_ rows: PostgresRows, _ row: Int) throws(PostgresError) {
        guard try !rows.isNull(row, 3) else { return nil }
        let hasEnvironment = try !rows.isNull(row, 4)
        self.init(
            transactionID: try rows.value(row, 3, TransactionID.init),
            environment: hasEnvironment
                ? try rows.value(row, 4, Environment.init(rawValue:)) : nil,
            productID: try rows.optionalText(row, 5),
            purchasedAt: try rows.optionalInstant(row, 6))
    }
}

extension Statements {
    static let recordAttempts = PostgresStatement(
        "record_attempts",
        """
        SELECT coinledger.record_purchase_attempts(
            $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        """)

    private static let attemptColumns =
        """
        account, code, is_claimed, transaction_id, environment, product_id, purchased_at,
        receipt_sha256, receipt IS NOT NULL, first_at, last_at, attempts
        """

    static let transactionAttempts = PostgresStatement(
        "transaction_attempts",
        """
        SELECT \(attemptColumns) FROM coinledger.purchase_attempts
        WHERE transaction_id = $1
        ORDER BY is_claimed, last_at DESC, account, code, subject LIMIT $2
        """)

    static let accountAttempts = PostgresStatement(
        "account_attempts",
        """
        SELECT \(attemptColumns) FROM coinledger.purchase_attempts
        WHERE account = $1
            AND ((first_at < $3 AND last_at >= $2) OR (purchased_at >= $2 AND purchased_at < $3))
            AND ($4::text IS NULL OR product_id IS NULL OR product_id = $4::text)
        ORDER BY last_at DESC, account, code, subject LIMIT $5
        """)

    static let forgetAttempts = PostgresStatement(
        "forget_attempts", "SELECT coinledger.forget_purchase_attempts($1, $2)")
}

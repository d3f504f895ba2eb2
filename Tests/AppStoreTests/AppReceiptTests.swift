import AppStore
import AppStoreStandIn
import Base
import Testing

@Suite struct `An app receipt` {
    private let shop: ReceiptShop

    init() throws { shop = try ReceiptShop() }

    @Test func `is verified without the store`() throws {
        let receipt = try shop.verify(shop.receipt())
        #expect(receipt.environment == .production)
        #expect(receipt.bundleID == "com.nonchalant")
        #expect(receipt.appID == 0)
        #expect(receipt.createdAt == noon)
        #expect(receipt.transactions == [try expectedPurchase()])
    }

    @Test func `has every purchase, in its order`() throws {
        let receipt = try shop.verify(shop.receipt(["T3", "T1", "T2"]))
        #expect(
            receipt.transactions == [
                try expectedPurchase("T3"), try expectedPurchase("T1"), try expectedPurchase("T2"),
            ])
    }

    @Test func `may hold nothing`() throws {
        #expect(try shop.verify(shop.receipt([])).transactions == [])
    }

    @Test func `says how many were bought at once`() throws {
        let bytes = try shop.receipt { $0.quantity = 3 }
        #expect(try shop.verify(bytes).transactions == [expectedPurchase(quantity: 3)])
    }

    @Test(arguments: [0, -1, 2_147_483_648, .min, .max] as [Int64])
    func `with an absurd quantity is refused`(quantity: Int64) throws {
        let bytes = try shop.receipt { $0.quantity = quantity }
        #expect(throws: AppReceiptError.malformedPayload(field: "quantity")) {
            try shop.verify(bytes)
        }
    }

    @Test func `that repeats itself has each purchase once`() throws {
        var form = ReceiptForm()
        form.copies = 3
        let receipt = try shop.verify(shop.receipt(["T1", "T2"], form: form))
        #expect(receipt.transactions.map(\.transactionID) == ["T1", "T2"])
    }

    @Test func `without original ids means the purchases' own`() throws {
        var form = ReceiptForm()
        form.hasOriginals = false
        let transaction = try #require(try shop.verify(shop.receipt(form: form)).transactions.first)
        #expect(transaction.originalTransactionID == "T1")
        #expect(transaction.originalPurchaseDate == nil)
    }

    @Test func `names an original that is another`() throws {
        let bytes = try shop.receipt(["T2"]) { $0.originalTransactionID = "T1" }
        #expect(try shop.verify(bytes).transactions.first?.originalTransactionID == "T1")
    }

    @Test func `says what was cancelled`() throws {
        var form = ReceiptForm()
        form.cancelledAt = noon - 5000
        let expected = try expectedPurchase(revocation: StoreRevocation(date: noon - 5000))
        #expect(try shop.verify(shop.receipt(form: form)).transactions == [expected])
    }

    @Test(arguments: [0, 2, 3, 4] as [Int64])
    func `leaves out what is no consumable`(productType: Int64) throws {
        var form = ReceiptForm()
        form.productType = productType
        #expect(try shop.verify(shop.receipt(form: form)).transactions == [])
    }

    @Test(arguments: [nil, 5, 99] as [Int64?])
    func `leaves a product's type open if it doesn't say`(productType: Int64?) throws {
        var form = ReceiptForm()
        form.productType = productType
        let transactions = try shop.verify(shop.receipt(form: form)).transactions
        #expect(transactions.map(\.type) == [nil])
    }

    @Test(arguments: [
        ("Production", StoreEnvironment.production), ("ProductionVPP", .production),
        ("ProductionSandbox", .sandbox), ("ProductionVPPSandbox", .sandbox), ("Xcode", .xcode),
        ("ProductionMars", .other("ProductionMars")),
    ])
    func `is of the environment that its type says`(
        type: String, environment: StoreEnvironment
    ) throws {
        var form = ReceiptForm()
        form.type = type
        let receipt = try shop.verify(shop.receipt(form: form))
        #expect(receipt.environment == environment)
        #expect(receipt.transactions.map(\.environment) == [environment])
    }

    @Test(arguments: [RSASigningKey.Digest.sha1, .sha256], [false, true])
    func `may be signed with SHA-1, as those before 2023, or SHA-256`(
        digest: RSASigningKey.Digest, hasOldCertificates: Bool
    ) throws {
        var form = ReceiptForm()
        form.style.digest = digest
        form.hasOldCertificates = hasOldCertificates
        #expect(try shop.verify(shop.receipt(form: form)).transactions == [expectedPurchase()])
    }

    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)], [0, 1, 2])
    func `may leave lengths open, sign attributes, and be wrapped once more`(
        style: (hasOpenLengths: Bool, hasSignedAttributes: Bool), wrappings: Int
    ) throws {
        var form = ReceiptForm()
        form.style.hasOpenLengths = style.hasOpenLengths
        form.style.hasSignedAttributes = style.hasSignedAttributes
        form.wrappings = wrappings
        // More than one piece of content.
        let ids = (1...9).map { "T\($0)" }
        let receipt = try shop.verify(shop.receipt(ids, form: form))
        #expect(receipt.transactions == (try ids.map { try expectedPurchase($0) }))
    }

    @Test func `wrapped more often than any is refused`() throws {
        var form = ReceiptForm()
        form.wrappings = 3
        let bytes = try shop.receipt(form: form)
        #expect(throws: AppReceiptError.malformedPayload(field: "")) { try shop.verify(bytes) }
    }

    @Test func `of 187 purchases is read as a whole`() throws {
        let ids = (1...187).map { "\(1_000_000_551_439_498 + $0)" }
        let receipt = try shop.verify(shop.receipt(ids))
        #expect(receipt.transactions == (try ids.map { try expectedPurchase($0) }))
    }
}

@Suite struct `The signer of an app receipt` {
    private let shop: ReceiptShop

    init() throws { shop = try ReceiptShop() }

    private func refusal(_ form: ReceiptForm, now: Int64 = noon) throws -> AppReceiptError? {
        do throws(AppReceiptError) {
            _ = try shop.verify(try receipt(form), now: now)
            return nil
        } catch {
            return error
        }
    }

    private func receipt(_ form: ReceiptForm) throws(AppReceiptError) -> [UInt8] {
        guard let bytes = try? shop.receipt(form: form) else { throw .malformed }
        return bytes
    }

    @Test(arguments: [
        (ChainFault.wrongLeafMarker, AppReceiptError.missingLeafMarker),
        (.wrongIntermediateMarker, .missingIntermediateMarker),
        (.intermediateIsNoAuthority, .notAnAuthority), (.leafOnOtherCurve, .unsupportedAlgorithm),
        (.twoCertificates, .untrustedChain), (.fourCertificates, .wrongChainLength),
        (.expired, .certificateNotValidThen), (.foreignRoot, .untrustedChain),
    ])
    func `with a faulty chain is refused`(fault: ChainFault, error: AppReceiptError) throws {
        var form = ReceiptForm()
        form.fault = .chain(fault)
        #expect(try refusal(form) == error)
    }

    @Test func `must have signed this content`() throws {
        var form = ReceiptForm()
        form.fault = .wrongSignature
        #expect(try refusal(form) == .badSignature)
        form.style.hasSignedAttributes = true
        #expect(try refusal(form) == .badSignature)
    }

    @Test func `is Xcode only where Xcode vouches for itself, which nobody trusts`() throws {
        #expect(try refusal(.xcode) == .untrustedChain)
    }

    @Test func `must have been valid when the receipt was made, not today`() throws {
        // Valid for an hour, a year before noon.
        let start = noon / 1000 - 31_536_000
        var form = ReceiptForm()
        form.leafValidity = start..<(start + 3600)
        for seconds in [start, start + 3599] {
            form.createdAt = seconds * 1000
            #expect(try refusal(form) == nil)
        }
        for seconds in [start - 1, start + 3600, noon / 1000] {
            form.createdAt = seconds * 1000
            #expect(try refusal(form) == .certificateNotValidThen)
        }
    }

    @Test func `may be a day ahead of us, and no more`() throws {
        var form = ReceiptForm()
        form.createdAt = noon + 86_400_000
        #expect(try refusal(form) == nil)
        #expect(try refusal(form, now: noon - 1) == .signedInTheFuture)
    }

    @Test func `is trusted only under a root that is configured`() throws {
        let other = AppReceiptVerifier(
            roots: try RootCertificates(files: [authority.root.der], allowPrivate: true))
        let bytes = try shop.receipt()
        #expect(throws: AppReceiptError.untrustedChain) { try other.verify(bytes, now: noon) }
        let transactions = try roots()
        #expect(!transactions.hasReceiptRoot)
        let receipts = try RootCertificates(
            files: [Array(authority.rootsPEM.utf8)], allowPrivate: true)
        #expect(receipts.hasReceiptRoot)
    }

    @Test(arguments: AppReceiptError.all)
    func `is refused with a code and a sentence`(error: AppReceiptError) {
        #expect(!error.code.isEmpty)
        #expect(error.code.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) })
        #expect(error.message.hasSuffix("."))
    }
}

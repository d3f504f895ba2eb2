import CoinLedger
import EventStore
import LedgerTestSupport
import Testing

@Suite struct `The details of an account` {
    static let hold = Hold(
        id: EventID(lane: 0, position: 12), coins: 50,
        purpose: Purpose(subject: .other("poll"), programmeID: "p1", performerID: nil),
        expiresAt: "2026-11-30T12:05:00Z",
        slices: [HeldSlice(lot: 1, coins: 20), HeldSlice(lot: 2, coins: 30)])

    static let refund = Refund(
        signedAt: "2026-12-01T08:00:00Z", percentage: 50_000, taken: [GoldenPayload.taken],
        debt: 60, writtenOff: 10)

    static let full = AccountDetails(
        production: AccountDetails.PurseDetails(holds: [hold], refunds: [.appStore("T1"): refund]),
        sandbox: AccountDetails.PurseDetails(
            holds: [],
            refunds: [
                .appStore("T3", .sandbox): Refund(), .appStore("T2", .sandbox): Refund(),
            ]), consent: true)

    static let fullText =
        #"{"production":{"holds":[{"id":"0-12","coins":50,"purpose":{"type":"other","#
        + #""text":"poll","programmeId":"p1"},"expiresAt":"2026-11-30T12:05:00.000Z","#
        + #""slices":[{"lot":1,"coins":20},{"lot":2,"coins":30}]}],"refunds":["#
        + #"{"store":"app_store","environment":"Production","transactionId":"T1","#
        + #""signedAt":"2026-12-01T08:00:00.000Z","percentageMilliunits":50000,"#
        + #""taken":[{"lot":{"number":1,"kind":"paid","coins":120,"#
        + #""priceMilliunits":160000,"currency":"JPY"},"coins":50,"#
        + #""valueMilliunits":66667,"currency":"JPY"}],"debt":60,"writtenOff":10}]},"#
        + #""sandbox":{"holds":[],"refunds":["#
        + #"{"store":"app_store","environment":"Sandbox","transactionId":"T2","#
        + #""percentageMilliunits":0,"taken":[],"debt":0,"writtenOff":0},"#
        + #"{"store":"app_store","environment":"Sandbox","transactionId":"T3","#
        + #""percentageMilliunits":0,"taken":[],"debt":0,"writtenOff":0}]},"consented":true}"#

    @Test func `aren't written where there are none`() throws {
        #expect(AccountDetailsCodec.encode(.none) == nil)
        #expect(AccountDetailsCodec.encode(AccountDetails(.new)) == nil)
        #expect(try AccountDetailsCodec.decode(Array("{}".utf8)) == .none)
    }

    @Test(arguments: [true, false])
    func `may be an answer about consent alone`(isGiven: Bool) throws {
        var account = Account.new
        account.evolve(
            .consentRecorded(ConsentRecorded(isGiven: isGiven)),
            id: EventID(lane: 0, position: 1))
        let bytes = try #require(AccountDetailsCodec.encode(AccountDetails(account)))
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"consented":\#(isGiven)}"#)
        #expect(try AccountDetailsCodec.decode(bytes).consent == isGiven)
    }

    @Test func `are written in one way alone, and read again`() throws {
        let bytes = try #require(AccountDetailsCodec.encode(Self.full))
        #expect(String(decoding: bytes, as: UTF8.self) == Self.fullText)
        #expect(try AccountDetailsCodec.decode(bytes) == Self.full)
    }

    @Test func `of one environment leave the other out`() throws {
        let details = AccountDetails(
            production: .none,
            sandbox: AccountDetails.PurseDetails(holds: [Self.hold], refunds: [:]))
        let bytes = try #require(AccountDetailsCodec.encode(details))
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix(#"{"sandbox":{"#))
        #expect(try AccountDetailsCodec.decode(bytes) == details)
    }

    @Test(arguments: [
        (#""id":"0-12""#, #""id":"12""#), (#""holds":[{"#, #""holds":[1,{"#),
        (#""environment":"Production""#, #""environment":"Sandbox""#),
        (#""transactionId":"T3""#, #""transactionId":"T2""#),
        (#""debt":60"#, #""debt":-1"#), (":50000", ":100001"), (#""refunds":"#, #""refund":"#),
        (#"{"production":{"#, #"{"production":1,"x":{"#),
        (#""consented":true"#, #""consented":1"#),
    ])
    func `that can't be are refused`(old: String, new: String) throws {
        let text = try #require(replacing(old, by: new, in: Self.fullText))
        #expect {
            try AccountDetailsCodec.decode(Array(text.utf8))
        } throws: { error in
            guard case .corrupt = error as? EventStoreError else { return false }
            return true
        }
    }
}

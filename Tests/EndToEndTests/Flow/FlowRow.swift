/// A row of the flow's table: a situation, what happens in it, and what must be so afterwards.
struct FlowRow: Sendable {
    let number: Int
    let situation: String
    /// What the viewer has at the end, once everything has settled.
    let coins: Int64
    /// Whether the phone has finished everything by then.
    let isFinished: Bool
    let play: @Sendable (Scene) throws -> Void

    init(
        _ number: Int, _ situation: String, coins: Int64, isFinished: Bool = true,
        _ play: @escaping @Sendable (Scene) throws -> Void
    ) {
        self.number = number
        self.situation = situation
        self.coins = coins
        self.isFinished = isFinished
        self.play = play
    }

    static let all = beforeThePost + thePost + owners + notifications + refunds + recoveries
}

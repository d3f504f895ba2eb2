/// What somebody wishes of one account, in plain numbers and texts.
struct Wish {
    /// A wish heard twice has the same number.
    let number: Int
    let purse: String
    /// Milliseconds after noon, as all instants here.
    let now: Int
    let what: What

    enum What {
        case link(token: String)
        case buy(Order)
        case give(coins: Int, end: Int?)
        case add(coins: Int, end: Int?)
        case remove(coins: Int)
        case spend(coins: Int, order: String)
        /// Of the wish of that number, which was a spend or a capture.
        case undo(spend: Int)
        case hold(coins: Int, order: String, end: Int)
        /// Nil for all of it.
        case capture(hold: Int, coins: Int?)
        case release(hold: Int)
        case expire
        case word(id: String, percentage: Int, signed: Int, policy: String)
        case remember(id: String, percentage: Int, signed: Int)
        case consent(isGiven: Bool)
    }

    struct Order {
        let id: String
        let original: String
        let paid: Int
        let free: Int
        /// Of the free coins.
        let end: Int?
        let price: Int?
        let token: String?
    }
}

/// What coins are spent on, or held for.
package struct Purpose: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        /// Stamps at the price that the catalogue of that version stated for one.
        case stamp(id: String, quantity: Int64, unitCoins: Coins, catalogueVersion: String)
        /// Whatever the service's backend says.
        case other(String)
    }

    package let subject: Subject
    /// The programme that gets what the coins bring.
    package let programmeID: String?
    /// The performer of it, if it's for one alone.
    package let performerID: String?

    package init(subject: Subject, programmeID: String?, performerID: String?) {
        self.subject = subject
        self.programmeID = programmeID
        self.performerID = performerID
    }
}

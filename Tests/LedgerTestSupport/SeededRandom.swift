package import Base

extension SeededRandom {
    /// A number from `range`.
    package mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &self)
    }

    /// Whether it's one of so many times.
    package mutating func isOneOf(_ count: Int) -> Bool { number(1...count) == 1 }

    /// One of `choices`, which aren't empty.
    package mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[number(0...choices.count - 1)]
    }
}

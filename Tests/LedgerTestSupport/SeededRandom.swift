/// Vigna's SplitMix64: the same numbers for the same seed, for ever.
package struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

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

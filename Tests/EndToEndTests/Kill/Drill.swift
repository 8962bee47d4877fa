internal import Foundation

/// What a long test takes from the environment, and how it prints what it did.
enum Drill {
    static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

    /// The seed in this variable, or a random one.
    static func seed(_ name: String) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
    }

    static func text<Kind: RawRepresentable<String>>(_ tally: [Kind: Int]) -> String {
        tally.map { "\($1) x \($0.rawValue)" }.sorted().joined(separator: ", ")
    }
}

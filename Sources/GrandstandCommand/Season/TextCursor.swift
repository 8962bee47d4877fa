/// Reads numbers and single characters from a short ASCII text.
struct TextCursor {
    private var rest: ArraySlice<UInt8>

    init(_ text: some StringProtocol) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }
    var next: UInt8? { rest.first }

    /// Reads a number with this many digits. If it returns `nil`, the cursor has not moved.
    mutating func number(_ digits: ClosedRange<Int>) -> Int? {
        var value = 0
        var count = 0
        for byte in rest {
            guard count < digits.upperBound, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            count += 1
        }
        guard count >= digits.lowerBound else { return nil }
        rest = rest.dropFirst(count)
        return value
    }

    /// Reads one of these characters; case matters. If it returns `nil`, the cursor has not moved.
    mutating func take(_ characters: StaticString) -> UInt8? {
        guard let byte = rest.first, characters.withUTF8Buffer({ $0.contains(byte) }) else { return nil }
        rest = rest.dropFirst()
        return byte
    }

    /// Reads bytes while they fulfil `condition`.
    mutating func prefix(while condition: (UInt8) -> Bool) -> [UInt8] {
        let taken = rest.prefix(while: condition)
        rest = rest.dropFirst(taken.count)
        return Array(taken)
    }

    /// Reads `+` or `-`, as 1 or -1.
    mutating func sign() -> Int? { take("+-").map { $0 == UInt8(ascii: "-") ? -1 : 1 } }
}

internal import JSON

/// The rules of openapi.yaml for a text: its length in Unicode code points, its pattern, and the sentence for refusals.
package struct TextRule: Sendable {
    /// The allowed numbers of code points.
    package let length: ClosedRange<Int>
    private let pattern: TextPattern?
    private let excludedText: [UInt8]?
    private let isPrintable: Bool
    /// A sentence that says what the text has to be; `nil`: a refusal only states the allowed length or that control
    /// characters are not allowed.
    private let refusal: String?

    /// - Parameters:
    ///   - pattern: a regular expression in a form that `TextPattern` can read.
    ///   - excluded: a string that the checked text must not contain.
    ///   - isPrintable: whether control characters are refused.
    package init(
        _ length: ClosedRange<Int> = 0...Int.max, pattern: String? = nil, excluding excluded: String? = nil,
        isPrintable: Bool = false, rule: String? = nil
    ) {
        self.length = length
        self.pattern = pattern.map(TextPattern.init)
        self.excludedText = excluded.map { Array($0.utf8) }
        self.isPrintable = isPrintable
        self.refusal = rule
    }

    /// The sentence for refusals.
    package var sentence: String { refusal ?? "" }

    package func accepts(_ text: String) -> Bool { fault(of: text) == nil }

    /// What is wrong with a text; `nil`: nothing.
    package func fault(of text: String) -> String? {
        // Count code points, as JSON Schema does, and not characters: one character may have any number of combining
        // marks.
        if length != 0...Int.max {
            let count = text.unicodeScalars.count
            guard length.contains(count) else {
                return refusal
                    ?? "A string of \(length.lowerBound) to \(length.upperBound) characters was expected; this one has \(count)."
            }
        }
        if isPrintable, text.unicodeScalars.contains(where: \.isControl) {
            return "Control characters are not allowed here."
        }
        if let pattern, !pattern.matches(text) { return refusal ?? "" }
        if let excludedText, Self.occurs(excludedText, in: text) { return refusal ?? "" }
        return nil
    }

    /// Compares bytes, because `String`'s own search takes longer than all other checks, and a bundle ID is read with
    /// every row.
    private static func occurs(_ part: [UInt8], in text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count >= part.count else { return false }
            return (0...bytes.count - part.count).contains { start in
                part.indices.allSatisfy { bytes[start + $0] == part[$0] }
            }
        }
    }
}

/// A regular expression in the few forms that openapi.yaml uses. It is anchored at its beginning and has characters,
/// sets and groups. Each of these may have `?`, `*`, `+`, `{n}` or `{m,n}`.
struct TextPattern: Sendable {
    private indirect enum Part: Sendable {
        case set(ByteSet, ClosedRange<Int>)
        case group([Part], ClosedRange<Int>)
    }

    /// A set of UTF-8 bytes. Bytes of non-ASCII characters are either all in the set or all not.
    private struct ByteSet: Sendable {
        private var low: UInt64 = 0
        private var high: UInt64 = 0
        private var nonASCII = false

        mutating func insert(_ bytes: ClosedRange<UInt8>) {
            for byte in bytes where byte < 128 {
                if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
            }
        }

        mutating func invert() { (low, high, nonASCII) = (~low, ~high, !nonASCII) }

        func contains(_ byte: UInt8) -> Bool {
            byte < 64 ? low >> UInt64(byte) & 1 == 1 : byte < 128 ? high >> UInt64(byte - 64) & 1 == 1 : nonASCII
        }
    }

    private let parts: [Part]
    /// Whether the pattern ends with `$`.
    private let isWhole: Bool

    /// Traps if the pattern has another form. openapi.yaml has no such pattern.
    init(_ pattern: String) {
        var reader = Reader(rest: Array(pattern.utf8)[...])
        precondition(reader.take("^"), "\(pattern) has no ^")
        parts = reader.parts()
        isWhole = reader.take("$")
        precondition(reader.rest.isEmpty, "\(pattern) has a form that is not read")
    }

    func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            // Most patterns are one set.
            if isWhole, parts.count == 1, case .set(let set, let count) = parts[0] {
                return count.contains(bytes.count) && bytes.allSatisfy(set.contains)
            }
            return Self.match(parts[...], bytes, 0) { !isWhole || $0 == bytes.count }
        }
    }

    /// Whether `parts` match from the position `place`, and `then` accepts the position after them.
    private static func match(
        _ parts: ArraySlice<Part>, _ bytes: UnsafeBufferPointer<UInt8>, _ place: Int, _ then: (Int) -> Bool
    ) -> Bool {
        guard let part = parts.first else { return then(place) }
        switch part {
        case .set(let set, let count):
            var end = place
            while end < bytes.count, end - place < count.upperBound, set.contains(bytes[end]) { end += 1 }
            while end - place >= count.lowerBound {
                if match(parts.dropFirst(), bytes, end, then) { return true }
                end -= 1
            }
            return false
        case .group(let inner, let count):
            return group(inner, count, bytes, place) { match(parts.dropFirst(), bytes, $0, then) }
        }
    }

    private static func group(
        _ inner: [Part], _ count: ClosedRange<Int>, _ bytes: UnsafeBufferPointer<UInt8>, _ place: Int,
        _ then: (Int) -> Bool
    ) -> Bool {
        if count.upperBound > 0 {
            let fewer = max(0, count.lowerBound - 1)...(count.upperBound - 1)
            let isMore = match(inner[...], bytes, place) { end in
                end > place && group(inner, fewer, bytes, end, then)
            }
            if isMore { return true }
        }
        return count.lowerBound == 0 && then(place)
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func take(_ character: Character) -> Bool {
            guard let byte = character.asciiValue, rest.first == byte else { return false }
            rest.removeFirst()
            return true
        }

        mutating func parts() -> [Part] {
            var parts: [Part] = []
            while let byte = rest.first, byte != UInt8(ascii: "$"), byte != UInt8(ascii: ")") {
                rest.removeFirst()
                switch byte {
                case UInt8(ascii: "("):
                    let inner = self.parts()
                    precondition(take(")"), "A group has no end")
                    parts.append(.group(inner, repeats()))
                case UInt8(ascii: "["):
                    let set = set()
                    parts.append(.set(set, repeats()))
                default:
                    var set = ByteSet()
                    set.insert(byte...byte)
                    parts.append(.set(set, repeats()))
                }
            }
            return parts
        }

        private mutating func set() -> ByteSet {
            var set = ByteSet()
            let isInverted = take("^")
            while !take("]") {
                let first = byte()
                if rest.first == UInt8(ascii: "-"), rest.dropFirst().first != UInt8(ascii: "]") {
                    rest.removeFirst()
                    set.insert(first...byte())
                } else {
                    set.insert(first...first)
                }
            }
            if isInverted { set.invert() }
            return set
        }

        /// Reads one byte of a set. It may be escaped, such as `\x1F` or `\]`.
        private mutating func byte() -> UInt8 {
            let byte = rest.removeFirst()
            guard byte == UInt8(ascii: "\\") else { return byte }
            let escaped = rest.removeFirst()
            guard escaped == UInt8(ascii: "x") else { return escaped }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            rest.removeFirst(2)
            return UInt8(digits, radix: 16) ?? 0
        }

        private mutating func repeats() -> ClosedRange<Int> {
            if take("?") { return 0...1 }
            if take("*") { return 0...Int.max }
            if take("+") { return 1...Int.max }
            guard take("{") else { return 1...1 }
            let least = number()
            let most = take(",") ? number() : least
            precondition(take("}"), "A count has no end")
            return least...most
        }

        private mutating func number() -> Int {
            var number = 0
            while let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                number = 10 * number + Int(byte - UInt8(ascii: "0"))
                rest.removeFirst()
            }
            return number
        }
    }
}

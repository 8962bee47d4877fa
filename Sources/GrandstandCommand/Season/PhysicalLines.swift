/// The lines of a text with their numbers. A line ends with LF or CRLF, in a text without LF with CR.
struct PhysicalLines {
    private let lines: [ArraySlice<UInt8>]
    /// The number of the line that was returned last.
    private(set) var number = 0

    /// - Throws: if the text is empty, too long, or UTF-16.
    init(_ bytes: [UInt8]) throws(CalendarFault) {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let end: UInt8 = text.contains(0x0A) ? 0x0A : 0x0D
        let all = text.split(separator: end, omittingEmptySubsequences: false)
            .map { $0.last == 0x0D ? $0.dropLast() : $0 }
        lines = all.last?.isEmpty == true ? all.dropLast() : all
        guard bytes.count <= CalendarLimits.bytes else {
            throw CalendarFault(line: 1, "The file has more than the allowed \(CalendarLimits.bytes) bytes.")
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw CalendarFault(line: 1, "The file is UTF-16; save it as UTF-8.")
        }
        guard lines.count <= CalendarLimits.lines else {
            throw CalendarFault(
                line: CalendarLimits.lines + 1, "The file has more than \(CalendarLimits.lines) lines.")
        }
        if lines.allSatisfy({ $0.allSatisfy(Self.isBlank) }) { throw CalendarFault(line: 1, "The file is empty.") }
    }

    /// The next line without its line end; `nil`: there are no more.
    mutating func next() -> ArraySlice<UInt8>? {
        guard number < lines.count else { return nil }
        number += 1
        return lines[number - 1]
    }

    /// The next line that is not empty, with the folded lines that continue it (RFC 5545 3.1), even if a fold splits a
    /// character or empty lines are between them; and the number of its first line. `nil`: there are no more.
    mutating func unfolded() throws(CalendarFault) -> (text: String, line: Int)? {
        while let first = next() {
            let begin = number
            var line = Array(first)
            while !line.isEmpty, number < lines.count, lines[number].first.map(Self.isBlank) ?? true,
                line.count <= CalendarLimits.fieldBytes, let more = next()
            {
                line += more.dropFirst()
            }
            if !line.allSatisfy(Self.isBlank) { return (try Self.text(line, line: begin), begin) }
        }
        return nil
    }

    /// Whether it is a space or a tab.
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Decodes UTF-8 from this line.
    static func text(_ bytes: some Collection<UInt8>, line: Int) throws(CalendarFault) -> String {
        guard bytes.count <= CalendarLimits.fieldBytes else {
            throw CalendarFault(line: line, "A line or field has more than \(CalendarLimits.fieldBytes) bytes.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CalendarFault(line: line, "This is not UTF-8; save the file as UTF-8.")
        }
        return text
    }
}

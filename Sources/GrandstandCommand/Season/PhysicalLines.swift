/// The lines of a text with their numbers. A line ends with LF, CRLF or CR.
struct PhysicalLines {
    private let bytes: ArraySlice<UInt8>
    private var place: Int
    /// The number of the line that was returned last.
    private(set) var number = 0

    /// - Throws: if the text is too long or is UTF-16.
    init(_ bytes: [UInt8]) throws(CalendarFault) {
        guard bytes.count <= CalendarLimits.bytes else {
            throw CalendarFault(
                line: 1, "The file has more than the allowed \(CalendarLimits.bytes) bytes.")
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw CalendarFault(line: 1, "The file is UTF-16; save it as UTF-8.")
        }
        self.bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        place = self.bytes.startIndex
    }

    /// The next line without its line end; `nil`: there are no more.
    mutating func next() throws(CalendarFault) -> ArraySlice<UInt8>? {
        guard place < bytes.endIndex else { return nil }
        number += 1
        guard number <= CalendarLimits.lines else {
            throw CalendarFault(line: number, "The file has more than \(CalendarLimits.lines) lines.")
        }
        let start = place
        let end = bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.endIndex
        place = min(end + 1, bytes.endIndex)
        if end < bytes.endIndex, bytes[end] == 0x0D, place < bytes.endIndex, bytes[place] == 0x0A { place += 1 }
        return bytes[start..<end]
    }

    /// The next line that is not empty, with the folded lines that continue it (RFC 5545 3.1), even if a fold splits a
    /// character or empty lines are between them; and the number of its first line. `nil`: there are no more.
    mutating func unfolded() throws(CalendarFault) -> (text: String, line: Int)? {
        while let first = try next() {
            let begin = number
            var line = Array(first)
            while !line.isEmpty, line.count <= CalendarLimits.fieldBytes, place < bytes.endIndex,
                [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]), let more = try next()
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

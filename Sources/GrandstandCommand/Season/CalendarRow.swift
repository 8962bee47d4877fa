/// One fixture as its file has it: a record of CSV, or a `VEVENT` of iCalendar.
struct CalendarRow: Sendable {
    struct Cell: Sendable {
        let text: String
        let line: Int
        /// The name of its time zone.
        var zone: String?
    }

    /// The number of its first line, from 1.
    let line: Int
    /// The values by the names of the columns, or of the properties in upper case.
    var cells: [String: Cell] = [:]
    /// The file's time zone for times that have none.
    var zone: String?
    /// Why the values may be wrong.
    var fault: CalendarFault?
}

extension CalendarRow {
    // MARK: CSV

    /// The records of a CSV file (RFC 4180), with a comma, a semicolon or a tab between fields, below its header.
    ///
    /// - Parameter columns: the columns that must exist.
    static func records(_ bytes: [UInt8], columns: [String]) throws(CalendarFault) -> [CalendarRow] {
        var lines = try PhysicalLines(bytes)
        var separator: UInt8?
        var header: [String]?
        var rows: [CalendarRow] = []
        while let first = lines.next() {
            if first.allSatisfy(PhysicalLines.isBlank) { continue }
            let mark = separator ?? Self.separator(of: first)
            separator = mark
            let line = lines.lineNumber
            let fields = try fields(first, &lines, separator: mark)
            // Excel may write the separator in the first line.
            if fields.allSatisfy(\.isEmpty) || fields[0] == "sep=" { continue }
            guard let header else {
                header = fields
                for column in columns where !fields.contains(column) {
                    let names = fields.map { "“\($0.prefix(40))”" }.prefix(30).joined(separator: ", ")
                    throw CalendarFault(
                        line: line, "There is no column “\(column.prefix(100))”. The columns are \(names).")
                }
                continue
            }
            let missing = Array(repeating: "", count: max(0, header.count - fields.count))
            let cells = zip(header, fields + missing).map { ($0, Cell(text: $1, line: line)) }
            var row = CalendarRow(line: line, cells: Dictionary(cells) { first, _ in first })
            if !fields.dropFirst(header.count).allSatisfy(\.isEmpty) {
                row.fault = CalendarFault(
                    line: line, "The record has \(fields.count) fields, the header \(header.count).")
            }
            rows.append(row)
        }
        return rows
    }

    /// The fields of the record that begins with this line.
    private static func fields(
        _ first: ArraySlice<UInt8>, _ lines: inout PhysicalLines, separator: UInt8
    ) throws(CalendarFault) -> [String] {
        let (quote, begins) = (UInt8(ascii: "\""), lines.lineNumber)
        var fields: [String] = []
        var rest = first
        while true {
            var field: [UInt8] = []
            let unpadded = rest.drop { $0 == 0x20 }
            if unpadded.first == quote {
                let opened = lines.lineNumber
                rest = unpadded.dropFirst()
                while true {
                    let text = rest.prefix { $0 != quote }
                    field += text
                    rest = rest.dropFirst(text.count)
                    if rest.starts(with: [quote, quote]) {
                        field.append(quote)
                        rest = rest.dropFirst(2)
                    } else if rest.isEmpty {
                        guard field.count <= CalendarLimits.fieldBytes, let line = lines.next() else {
                            throw CalendarFault(line: opened, "The quotation mark on this line is not closed.")
                        }
                        field.append(0x20)
                        rest = line
                    } else {
                        break
                    }
                }
                rest = rest.dropFirst().drop { $0 == 0x20 }
                guard rest.first ?? separator == separator else {
                    throw CalendarFault(
                        line: lines.lineNumber,
                        "Text follows a closing quotation mark. Write a quotation mark inside a field twice.")
                }
            } else {
                field = Array(rest.prefix { $0 != separator })
                rest = rest.dropFirst(field.count)
            }
            fields.append(try PhysicalLines.text(field, line: begins).trimmed)
            guard rest.first == separator else { return fields }
            rest = rest.dropFirst()
        }
    }

    /// The separator that occurs most in the header, outside of quotation marks.
    private static func separator(of header: ArraySlice<UInt8>) -> UInt8 {
        let parts = header.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        let plain = parts.indices.filter { $0 % 2 == 0 }.flatMap { parts[$0] }
        func count(_ mark: UInt8) -> Int { plain.count { $0 == mark } }
        return [UInt8(ascii: ";"), 0x09].reduce(UInt8(ascii: ",")) { count($1) > count($0) ? $1 : $0 }
    }

    // MARK: iCalendar

    /// The `VEVENT`s of an iCalendar file (RFC 5545). Other components are skipped.
    static func events(_ bytes: [UInt8]) throws(CalendarFault) -> [CalendarRow] {
        var lines = try PhysicalLines(bytes)
        // The components that are open, with the lines of their BEGIN.
        var open: [(name: String, line: Int)] = []
        var rows: [CalendarRow] = []
        var zone: String?
        while let (text, line) = try lines.nextUnfolded() {
            let isEvent = open.count == 2 && open[1].name == "VEVENT"
            guard let (name, cell) = property(text, line) else {
                if open.count > 1, !isEvent { continue }
                throw CalendarFault(line: line, "Expected a property such as SUMMARY:Home – Away.")
            }
            let word = cell.text.uppercased()
            guard !open.isEmpty || (name, word) == ("BEGIN", "VCALENDAR") else {
                throw CalendarFault(line: line, "This is not an iCalendar file: expected BEGIN:VCALENDAR.")
            }
            switch name {
            case "BEGIN":
                if open.count == 1, word == "VEVENT" { rows.append(CalendarRow(line: line, zone: zone)) }
                open.append((word, line))
            case "END":
                let last = open.removeLast()
                guard last.name == word else {
                    throw CalendarFault(
                        line: line, "Expected END:\(last.name) for the BEGIN on line \(last.line).")
                }
            case "X-WR-TIMEZONE" where open.count == 1: zone = cell.text
            default: if isEvent, rows[rows.count - 1].cells[name] == nil { rows[rows.count - 1].cells[name] = cell }
            }
        }
        guard let last = open.last else { return rows }
        throw CalendarFault(
            line: lines.lineNumber,
            "The file is incomplete: the \(last.name) that begins on line \(last.line) has no END.")
    }

    /// A property `NAME;PARAMETER=value:value`. Its text has no escapes (RFC 5545 3.3.11); a line break becomes a space.
    ///
    /// - Returns: `nil`: the line is no property.
    private static func property(_ text: String, _ line: Int) -> (name: String, cell: Cell)? {
        var isQuoted = false
        let colon = text.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ":") && !isQuoted
        }
        guard let colon else { return nil }
        let parts = text[..<colon].split(separator: ";", omittingEmptySubsequences: false)
        let zone = parts.first { $0.uppercased().hasPrefix("TZID=") }?.dropFirst(5)
        var value = String(text[colon...].dropFirst())
        if value.contains("\\") { value = value.replacing(/\\(.)/) { "nN".contains($0.output.1) ? " " : $0.output.1 } }
        return (
            parts[0].uppercased(),
            Cell(text: value.trimmed, line: line, zone: zone.map { String($0.filter { $0 != "\"" }) })
        )
    }
}

/// The lines of a text with their numbers. A line ends with LF or CRLF, in a text without LF with CR.
struct PhysicalLines {
    private let lines: [ArraySlice<UInt8>]
    /// The number of the line that was returned last.
    private(set) var lineNumber = 0

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
        if lines.allSatisfy({ $0.allSatisfy(Self.isBlank) }) { throw CalendarFault(line: 1, "The file is empty.") }
    }

    /// The next line without its line end; `nil`: there are no more.
    mutating func next() -> ArraySlice<UInt8>? {
        guard lineNumber < lines.count else { return nil }
        lineNumber += 1
        return lines[lineNumber - 1]
    }

    /// The next line that is not empty, with the folded lines that continue it (RFC 5545 3.1), even if a fold splits a
    /// character or empty lines are between them; and the number of its first line. `nil`: there are no more.
    mutating func nextUnfolded() throws(CalendarFault) -> (text: String, line: Int)? {
        while let first = next() {
            let begin = lineNumber
            var line = Array(first)
            while !line.isEmpty, lineNumber < lines.count, lines[lineNumber].first.map(Self.isBlank) ?? true,
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

/// The records of a CSV file (RFC 4180), with a comma, a semicolon or a tab between fields.
struct CSVRecords {
    struct Record {
        let line: Int
        let fields: [String]
    }

    private var lines: PhysicalLines
    private var separator = UInt8(ascii: ",")

    init(_ bytes: [UInt8]) throws(CalendarFault) {
        lines = try PhysicalLines(bytes)
        var ahead = lines
        var first = try ahead.next()
        while first?.allSatisfy(PhysicalLines.isBlank) ?? false { first = try ahead.next() }
        // Excel may write the separator in the first line.
        if let first, first.starts(with: "sep=".utf8), first.count == 5, let byte = first.last {
            separator = byte
            lines = ahead
        } else if let first {
            separator = Self.separator(of: first)
        }
    }

    /// The next record that is not empty; `nil` at the end.
    mutating func next() throws(CalendarFault) -> Record? {
        while let line = try lines.next() {
            let record = try record(line)
            if !record.fields.allSatisfy(\.isEmpty) { return record }
        }
        return nil
    }

    private mutating func record(_ first: ArraySlice<UInt8>) throws(CalendarFault) -> Record {
        let quote = UInt8(ascii: "\"")
        let begins = lines.number
        var fields: [String] = []
        var rest = first
        while true {
            guard fields.count < CalendarLimits.columns else {
                throw CalendarFault(line: begins, "More than \(CalendarLimits.columns) fields in one record.")
            }
            let unpadded = rest.drop { $0 == 0x20 }
            var field: [UInt8] = []
            if unpadded.first == quote {
                let opened = lines.number
                rest = unpadded.dropFirst()
                while true {
                    let text = rest.prefix { $0 != quote }
                    field += text
                    guard field.count <= CalendarLimits.fieldBytes else {
                        throw CalendarFault(
                            line: opened,
                            "The quotation mark on this line is not closed within "
                                + "\(CalendarLimits.fieldBytes) bytes.")
                    }
                    rest = rest[text.endIndex...].dropFirst()
                    if text.endIndex < rest.startIndex, rest.first == quote {
                        field.append(quote)
                        rest = rest.dropFirst()
                    } else if text.endIndex < rest.startIndex {
                        break
                    } else {
                        guard let line = try lines.next() else {
                            throw CalendarFault(line: opened, "The quotation mark on this line is not closed.")
                        }
                        field.append(0x20)
                        rest = line
                    }
                }
                rest = rest.drop { $0 == 0x20 }
                guard rest.first.map({ $0 == separator }) ?? true else {
                    throw CalendarFault(
                        line: lines.number,
                        "Text follows a closing quotation mark. Write a quotation mark inside a field twice.")
                }
            } else {
                let text = rest.prefix { $0 != separator }
                field = Array(text)
                rest = rest[text.endIndex...]
            }
            fields.append(try PhysicalLines.text(field, line: begins).trimmed)
            guard rest.first == separator else { break }
            rest = rest.dropFirst()
        }
        return Record(line: begins, fields: fields)
    }

    /// The separator that occurs most in the header, outside of quotation marks.
    private static func separator(of header: ArraySlice<UInt8>) -> UInt8 {
        let candidates = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09]
        var counts = [0, 0, 0]
        var isQuoted = false
        for byte in header {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if !isQuoted, let place = candidates.firstIndex(of: byte) { counts[place] += 1 }
        }
        let most = counts.max() ?? 0
        return candidates[counts.firstIndex(of: most) ?? 0]
    }
}

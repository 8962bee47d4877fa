/// A property `NAME;PARAMETER=value:value`, already unfolded (RFC 5545 3.1).
struct Property {
    let line: Int
    /// In upper case.
    let name: String
    /// The parameters by name in upper case. If a parameter has a list of values, only the first one is kept.
    private(set) var parameters: [String: String] = [:]
    /// The value as written, with its escapes.
    let value: String

    init(_ text: String, line: Int) throws(CalendarFault) {
        var rest = text.utf8[...]
        func word() -> String {
            let word = rest.prefix { byte in
                (0x41...0x5A).contains(byte & 0xDF) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
            }
            rest = rest[word.endIndex...]
            return String(Substring(word)).uppercased()
        }
        let fault = CalendarFault(line: line, "Expected a property such as SUMMARY:Home – Away.")
        let name = word()
        var parameters: [String: String] = [:]
        while rest.first == UInt8(ascii: ";") {
            rest = rest.dropFirst()
            let parameter = word()
            guard !parameter.isEmpty, rest.first == UInt8(ascii: "=") else { throw fault }
            repeat {
                rest = rest.dropFirst()
                let value: Substring.UTF8View
                if rest.first == UInt8(ascii: "\"") {
                    rest = rest.dropFirst()
                    value = rest.prefix { $0 != UInt8(ascii: "\"") }
                    guard value.endIndex < rest.endIndex else { throw fault }
                    rest = rest[value.endIndex...].dropFirst()
                } else {
                    value = rest.prefix {
                        $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ",")
                    }
                    rest = rest[value.endIndex...]
                }
                if parameters[parameter] == nil { parameters[parameter] = String(Substring(value)) }
            } while rest.first == UInt8(ascii: ",")
        }
        guard !name.isEmpty, rest.first == UInt8(ascii: ":") else { throw fault }
        self.line = line
        self.name = name
        self.parameters = parameters
        value = String(Substring(rest.dropFirst()))
    }

    /// The value as text, without escapes (RFC 5545 3.3.11). A line break becomes a space.
    var text: String {
        guard value.utf8.contains(UInt8(ascii: "\\")) else { return value }
        var text = ""
        var isEscaped = false
        for character in value.unicodeScalars {
            if isEscaped {
                text.unicodeScalars.append(character == "n" || character == "N" ? " " : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                text.unicodeScalars.append(character)
            }
        }
        return text
    }
}

/// A component, from `BEGIN:NAME` to `END:NAME`.
struct Component {
    let name: String
    /// The line of its `BEGIN`.
    let line: Int
    var properties: [Property] = []
    var components: [Component] = []

    /// The only property with this name; `nil`: there is none.
    ///
    /// - Throws: if there are several.
    func property(_ name: String) throws(CalendarFault) -> Property? {
        var found: Property?
        for property in properties where property.name == name {
            guard found == nil else {
                throw CalendarFault(line: property.line, "\(name) occurs twice in one component.")
            }
            found = property
        }
        return found
    }
}

extension Component {
    /// The components that are kept, by the component that contains them. Others are skipped.
    private static let kept: [String: Set<String>] = [
        "": ["VCALENDAR"], "VCALENDAR": ["VEVENT"], "VEVENT": [],
    ]

    /// All `VCALENDAR`s of a text.
    static func calendars(_ bytes: [UInt8]) throws(CalendarFault) -> [Component] {
        var lines = UnfoldedLines(lines: try PhysicalLines(bytes))
        var stack = [Component(name: "", line: 1)]
        var count = 0
        while let (text, line) = try lines.next() {
            // In a skipped component, only lines with BEGIN and END are parsed, to find its end.
            if let inner = stack.last, kept[inner.name] == nil, !Self.isFrame(text) { continue }
            let property = try Property(text, line: line)
            switch property.name {
            case "BEGIN":
                let name = property.value.uppercased()
                guard stack.count > 1 || name == "VCALENDAR" else { throw noCalendar(line) }
                guard stack.count <= CalendarLimits.depth else {
                    throw CalendarFault(
                        line: line, "Components are nested more than \(CalendarLimits.depth) levels deep.")
                }
                if name == "VEVENT" { count += 1 }
                guard count <= CalendarLimits.entries else {
                    throw CalendarFault(
                        line: line, "More than \(CalendarLimits.entries) VEVENTs; use several calendars.")
                }
                stack.append(Component(name: name, line: line))
            case "END":
                let name = property.value.uppercased()
                let component = stack.removeLast()
                guard !stack.isEmpty, component.name == name else {
                    throw CalendarFault(
                        line: line,
                        stack.isEmpty
                            ? "END:\(name) has no BEGIN."
                            : "Expected END:\(component.name) for the BEGIN on line \(component.line).")
                }
                let parent = stack.count - 1
                if kept[stack[parent].name]?.contains(name) ?? false { stack[parent].components.append(component) }
            default:
                guard stack.count > 1 else { throw noCalendar(line) }
                let last = stack.count - 1
                if kept[stack[last].name] != nil { stack[last].properties.append(property) }
            }
        }
        if stack.count > 1, let open = stack.last {
            throw CalendarFault(
                line: lines.number,
                "The file is incomplete: the \(open.name) that begins on line \(open.line) has no END.")
        }
        guard let calendars = stack.first?.components, !calendars.isEmpty else { throw noCalendar(1) }
        return calendars
    }

    private static func isFrame(_ text: String) -> Bool {
        let word = text.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
        return word.count <= 5 && ["BEGIN", "END"].contains(String(Substring(word)).uppercased())
    }

    private static func noCalendar(_ line: Int) -> CalendarFault {
        CalendarFault(line: line, "This is not an iCalendar file: expected BEGIN:VCALENDAR.")
    }
}

/// Joins folded lines (RFC 5545 3.1), even if a fold splits a character. Empty lines are skipped.
private struct UnfoldedLines {
    var lines: PhysicalLines
    private var pending: (bytes: [UInt8], line: Int)?

    init(lines: PhysicalLines) { self.lines = lines }

    var number: Int { max(1, lines.number) }

    mutating func next() throws(CalendarFault) -> (text: String, line: Int)? {
        while let line = try lines.next() {
            if let first = line.first, first == 0x20 || first == 0x09, pending != nil {
                pending?.bytes += line.dropFirst()
                if let pending, pending.bytes.count > CalendarLimits.fieldBytes { return try Self.text(pending) }
                continue
            }
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
            let complete = pending
            pending = (Array(line), lines.number)
            if let complete { return try Self.text(complete) }
        }
        guard let last = pending else { return nil }
        pending = nil
        return try Self.text(last)
    }

    private static func text(_ pending: (bytes: [UInt8], line: Int)) throws(CalendarFault) -> (String, Int) {
        (try PhysicalLines.text(pending.bytes, line: pending.line), pending.line)
    }
}

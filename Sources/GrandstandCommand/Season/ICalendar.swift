/// A property `NAME;PARAMETER=value:value`, already unfolded (RFC 5545 3.1).
struct Property {
    let line: Int
    /// In upper case.
    let name: String
    /// The parameters by name in upper case. If a parameter has a list of values, only the first one is kept.
    let parameters: [String: String]
    /// The value as written, with its escapes.
    let value: String

    init(_ text: String, line: Int) throws(CalendarFault) {
        var rest = text.utf8[...]
        func take(while isPart: (UInt8) -> Bool) -> String {
            let taken = rest.prefix(while: isPart)
            rest = rest[taken.endIndex...]
            return String(Substring(taken))
        }
        func word() -> String {
            take { (0x41...0x5A).contains($0 & 0xDF) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
                .uppercased()
        }
        func skip(_ mark: UInt8) -> Bool {
            guard rest.first == mark else { return false }
            rest = rest.dropFirst()
            return true
        }
        let fault = CalendarFault(line: line, "Expected a property such as SUMMARY:Home – Away.")
        let quote = UInt8(ascii: "\"")
        let name = word()
        var parameters: [String: String] = [:]
        while skip(UInt8(ascii: ";")) {
            let parameter = word()
            guard !parameter.isEmpty, skip(UInt8(ascii: "=")) else { throw fault }
            repeat {
                let isQuoted = skip(quote)
                let value = take { isQuoted ? $0 != quote : !";:,".utf8.contains($0) }
                guard !isQuoted || skip(quote) else { throw fault }
                if parameters[parameter] == nil { parameters[parameter] = value }
            } while skip(UInt8(ascii: ","))
        }
        guard !name.isEmpty, skip(UInt8(ascii: ":")) else { throw fault }
        (self.line, self.name, self.parameters, value) = (line, name, parameters, String(Substring(rest)))
    }

    /// The value as text, without escapes (RFC 5545 3.3.11). A line break becomes a space.
    var text: String {
        guard value.contains("\\") else { return value.trimmed }
        return value.replacing(/\\(.)/) { "nN".contains($0.output.1) ? " " : $0.output.1 }.trimmed
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
        let found = properties.filter { $0.name == name }
        guard found.count < 2 else {
            throw CalendarFault(line: found[1].line, "\(name) occurs twice in one component.")
        }
        return found.first
    }
}

extension Component {
    /// The components that are kept, by the component that contains them. Others are skipped.
    private static let kept: [String: Set<String>] = [
        "": ["VCALENDAR"], "VCALENDAR": ["VEVENT"], "VEVENT": [],
    ]

    /// All `VCALENDAR`s of a text.
    static func calendars(_ bytes: [UInt8]) throws(CalendarFault) -> [Component] {
        var lines = try PhysicalLines(bytes)
        var stack = [Component(name: "", line: 1)]
        var count = 0
        while let (text, line) = try lines.unfolded() {
            // In a skipped component, only lines with BEGIN and END are parsed, to find its end.
            if let inner = stack.last, kept[inner.name] == nil, !Self.isFrame(text) { continue }
            let property = try Property(text, line: line)
            let name = property.value.uppercased()
            guard stack.count > 1 || property.name == "END" || property.name == "BEGIN" && name == "VCALENDAR" else {
                throw noCalendar(line)
            }
            switch property.name {
            case "BEGIN":
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

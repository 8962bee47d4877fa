internal import Foundation
internal import Grandstand
internal import JSON

/// One fixture of a calendar.
struct CalendarEntry: Sendable {
    /// The number of its first line, from 1.
    var line: Int
    var uid: String
    /// Seconds since 1970; `nil`: the time is unknown, and the entry is not `scheduled`.
    var startsAt: Int?
    /// `nil`: the calendar has none.
    var endsAt: Int?
    var status = Status.scheduled
    /// If two entries have the same UID, the one with the higher number is newer.
    var sequence = 0
    /// The value of a name that a template uses; `nil`: there is none.
    var value: @Sendable (String) -> String?

    enum Status: String, CaseIterable, Sendable {
        case scheduled
        /// The fixture has no time yet, whatever its entry says.
        case postponed
        case cancelled
    }
}

/// A fault in a calendar's text, or an entry that was not applied.
struct CalendarFault: Error, Sendable, Hashable, Encodable, WritesNulls {
    /// The line number, from 1. For a folded line or a record of several lines, it is the first. `nil`: the fault is
    /// not in a single line.
    var line: Int?
    /// A sentence that says what is wrong or expected.
    var detail: String
    /// The UID of the entry; `nil`: it is unknown, or the fault concerns several entries.
    var uid: String?

    static let leftOut: [String] = []

    init(line: Int?, _ detail: String, uid: String? = nil) {
        (self.line, self.detail, self.uid) = (line, detail, uid)
    }
}

extension CalendarFault: CustomStringConvertible {
    /// A line for a terminal.
    var description: String { "Problem\(line.map { " on line \($0)" } ?? ""): \(detail.escapingControls)" }
}

/// The limits of a calendar's text. Beyond a limit, the whole file is refused. Only a year outside of `years` is a fault
/// of its entry alone.
enum CalendarLimits {
    /// The most bytes of a file. Ten leagues of 380 fixtures take 1.5 MB as iCalendar.
    static let bytes = 4 * 1_024 * 1_024
    /// The most bytes of an unfolded line of iCalendar, or of a field of CSV.
    static let fieldBytes = 16 * 1_024
    static let entries = 5_000
    /// The years that the API accepts for events.
    static let years = 2000...2099
}

/// A text with names in braces, such as `{home} – {away}`. `{{` and `}}` stand for single braces.
struct Template: Sendable {
    private let text: String

    // Made once, because an expression takes a hundred times as long to compile as to match. A match does not change it.
    nonisolated(unsafe) private static let pattern = /\{\{|\}\}|\{([^{}]+)\}/

    /// `nil`: a brace has no partner, or a name is empty.
    init?(_ text: String) {
        if text.replacing(Self.pattern, with: "").contains(where: { "{}".contains($0) }) { return nil }
        self.text = text
    }

    static let rule = "Write names in braces, such as {home}. Write a brace that is part of the text twice."

    /// - Parameter value: returns the value of a name; `nil`: there is none.
    /// - Returns: `nil`: a name has no value.
    func filled(_ value: (String) -> String?) -> String? {
        var isComplete = true
        let filled = text.replacing(Self.pattern) { part in
            guard let name = part.output.1 else { return String(part.output.0.prefix(1)) }
            let value = value(String(name))
            isComplete = isComplete && value != nil
            return value ?? ""
        }
        return isComplete ? filled : nil
    }
}

/// JSON whose strings are templates. The names of members are not templates.
extension JSONValue {
    /// All strings in the value, in the order written, with their pointers.
    func strings(at pointer: String) -> [(pointer: String, value: JSONValue)] {
        switch kind {
        case .null, .bool, .number: []
        case .string: [(pointer, self)]
        case .array(let elements): elements.enumerated().flatMap { $1.strings(at: "\(pointer)/\($0)") }
        case .object(let members): members.flatMap { $1.strings(at: pointer + PointerText.pointer([$0])) }
        }
    }

    /// The text of the value, with its strings filled in.
    ///
    /// - Returns: `nil`: a name has no value.
    func filled(_ value: (String) -> String?) -> [UInt8]? {
        var text: [UInt8] = []
        var place = source.startIndex
        for (_, string) in strings(at: "") {
            guard let template = string.string.flatMap(Template.init) else { continue }
            guard let filled = template.filled(value) else { return nil }
            text += source[place..<string.source.startIndex]
            text += filled.quotedJSON.utf8
            place = string.source.endIndex
        }
        return text + source[place...]
    }
}

/// Turns texts into parts of keys and topics.
enum KeyText {
    /// Replaces Latin letters with marks by plain letters. Each run of other characters that keys cannot have becomes
    /// one `-`, except at the ends. `1. FC Köln` becomes `1.-FC-Koln`. A second call changes nothing.
    static func folded(_ text: String) -> String {
        var folded = ""
        var isGap = false
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            // Marks, which follow their letters.
            if (0x300...0x36F).contains(scalar.value) { continue }
            let part = letters[scalar] ?? (isAllowed(scalar) ? String(scalar) : "")
            if isGap, !part.isEmpty, !folded.isEmpty { folded += "-" }
            isGap = part.isEmpty
            folded += part
        }
        return folded
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && EventKey(rawValue: String(scalar)) != nil
    }

    /// Letters that are not a plain letter with a mark.
    private static let letters: [Unicode.Scalar: String] = [
        "Æ": "AE", "æ": "ae", "Ð": "D", "ð": "d", "Đ": "D", "đ": "d", "Ħ": "H", "ħ": "h", "ı": "i", "Ł": "L", "ł": "l",
        "Ø": "O", "ø": "o", "Œ": "OE", "œ": "oe", "ß": "ss", "Ŧ": "T", "ŧ": "t", "Þ": "Th", "þ": "th",
    ]
}

/// A time in a calendar.
struct CalendarTime: Hashable {
    /// What the clock shows, in seconds since 1970 as if it were in UTC.
    var local: Int
    /// Seconds by which the clock is ahead of UTC; `nil`: the text does not say.
    var offset: Int?
    /// `false`: the text is a day without a time.
    var hasTime = true

    /// Whether it is 00:00 as written, or in UTC what is 00:00 in the zone of the entries. Many calendars write an unknown
    /// time so.
    func isMidnight(in zone: TimeZone) -> Bool {
        let local = offset == 0 ? local + zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(local))) : local
        return local % 86_400 == 0
    }

    func instant(in zone: TimeZone) -> Int { offset.map { local - $0 } ?? zone.instant(local: local) }

    /// The time after a duration that is not negative (RFC 5545 3.3.6), such as `PT1H45M`, `P1D` or `P2W`: days are
    /// counted on the clock, seconds are elapsed time. `nil`: the text is no such duration.
    func adding(_ duration: String, in zone: TimeZone) -> Int? {
        guard let parts = duration.wholeMatch(of: Self.isoDuration), !duration.hasSuffix("P"), !duration.hasSuffix("T")
        else { return nil }
        func number(_ text: Substring?) -> Int { text.flatMap { Int($0) } ?? 0 }
        let days = number(parts.1) * 7 + number(parts.2)
        return CalendarTime(local: local + days * 86_400, offset: offset).instant(in: zone)
            + number(parts.3) * 3_600 + number(parts.4) * 60 + number(parts.5)
    }
}

extension CalendarTime {
    /// Reads `2026-11-28 15:30`, `2026-11-28T14:30:00Z`, `20261128T143000Z` or `2026-11-28T15:30+01:00`.
    ///
    /// `nil`: the text is no such time, or the year is outside `CalendarLimits.years`.
    ///
    /// - Parameter isDayMonthYear: whether `28.11.2026 15:30` or `28/11/26` is a time, too.
    init?(_ text: String, isDayMonthYear: Bool) {
        if let iso = text.wholeMatch(of: Self.isoPattern) {
            self.init([iso.1, iso.2, iso.3], iso.4.map { [$0, iso.5 ?? "", iso.6 ?? "0"] }, zone: iso.7)
        } else if isDayMonthYear, let dmy = text.wholeMatch(of: Self.dayMonthYearPattern) {
            let year = dmy.3.count == 2 ? "20" + dmy.3 : dmy.3
            self.init([year, dmy.2, dmy.1], dmy.4.map { [$0, dmy.5 ?? "", dmy.6 ?? "0"] }, zone: nil)
        } else {
            return nil
        }
    }

    /// - Parameters:
    ///   - day: year, month and day.
    ///   - time: hour, minute and second; `nil`: the text has no time.
    ///   - zone: `Z` or an offset; `nil`: the text has none.
    private init?(_ day: [Substring], _ time: [Substring]?, zone: Substring?) {
        let n = (day + (time ?? ["0", "0", "0"])).map { Int($0) }
        let parts = DateComponents(
            calendar: Self.calendar, year: n[0], month: n[1], day: n[2], hour: n[3], minute: n[4], second: n[5])
        guard let year = n[0], CalendarLimits.years.contains(year), parts.isValidDate, let date = parts.date else {
            return nil
        }
        if let zone {
            let digits = zone.filter { $0.isNumber }
            let (hours, minutes) = (Int(digits.prefix(2)) ?? 0, Int(digits.dropFirst(2)) ?? 0)
            guard hours < 24, minutes < 60 else { return nil }
            offset = (zone.hasPrefix("-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
        }
        local = Int(date.timeIntervalSince1970)
        hasTime = time != nil
    }

    // Made once, because an expression takes a hundred times as long to compile as to match. A match does not change it.
    nonisolated(unsafe) private static let isoDuration =
        /[+]?P(?:([0-9]{1,6})W)?(?:([0-9]{1,6})D)?(?:T(?:([0-9]{1,6})H)?(?:([0-9]{1,6})M)?(?:([0-9]{1,6})S)?)?/
    nonisolated(unsafe) private static let isoPattern =
        #/
        ([0-9]{4})-?([0-9]{2})-?([0-9]{2})
        (?:[Tt\x20]([0-9]{1,2}):?([0-9]{2})(?::?([0-9]{2})(?:[.,][0-9]+)?)?([Zz]|[+\-][0-9]{2}:?(?:[0-9]{2})?)?)?
        /#
    nonisolated(unsafe) private static let dayMonthYearPattern =
        #/
        ([0-9]{1,2})[.\/\-]([0-9]{1,2})[.\/\-]([0-9]{4}|[0-9]{2})
        (?:,?\x20+([0-9]{1,2})[:.]([0-9]{2})(?:[:.]([0-9]{2}))?)?
        /#

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}

/// Local times, in seconds since 1970 as if they were in UTC.
extension TimeZone {
    /// The time zone with this name, such as `Europe/Vienna`; `nil`: this machine does not know it.
    static func named(_ name: String) -> TimeZone? {
        name.wholeMatch(of: namePattern).flatMap { _ in TimeZone(identifier: name) }
    }

    /// The form of a time zone's name. Other texts may be paths, so they are not looked up.
    nonisolated(unsafe) private static let namePattern = /[A-Za-z0-9_+\-]{1,32}(?:\/[A-Za-z0-9_+\-]{1,32}){0,2}/

    /// The instant at which the clock shows `local`. If the clock shows this time twice, the result is the first
    /// instant. If the clock skips this time, the offset before the change is used (RFC 5545 3.3.5).
    func instant(local: Int) -> Int {
        let before = offset(at: local - 86_400)
        if offset(at: local - before) == before { return local - before }
        let after = offset(at: local + 86_400)
        return offset(at: local - after) == after ? local - after : local - before
    }

    private func offset(at time: Int) -> Int { secondsFromGMT(for: Date(timeIntervalSince1970: Double(time))) }
}

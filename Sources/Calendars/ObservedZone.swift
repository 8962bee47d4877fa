/// A time zone as a file defines it: `VTIMEZONE` (RFC 5545 3.6.5).
extension ZoneRules {
    /// - Throws: for a zone without rules, or with rules of another kind than calendars write.
    init(_ component: Component) throws(CalendarFault) {
        guard (1...CalendarLimits.observances).contains(component.components.count) else {
            throw CalendarFault(
                line: component.line,
                "A VTIMEZONE has 1 to \(CalendarLimits.observances) of STANDARD and DAYLIGHT.")
        }
        var transitions: [Transition] = []
        var initial: (at: Int, offset: Int)?
        for part in component.components {
            let observance = try Observance(part)
            for local in try observance.locals() {
                let at = local - observance.from
                transitions.append(Transition(at: at, offset: observance.to))
                if initial.map({ at < $0.at }) ?? true { initial = (at, observance.from) }
            }
            guard transitions.count <= CalendarLimits.transitions else {
                throw CalendarFault(
                    line: part.line, "A VTIMEZONE sets its clocks at most \(CalendarLimits.transitions) times.")
            }
        }
        self.init(initial: initial?.offset ?? 0, transitions: transitions)
    }
}

/// `STANDARD` or `DAYLIGHT`: when the clocks are set from one offset to another.
private struct Observance {
    let component: Component
    /// Seconds east of UTC.
    let from: Int
    let to: Int
    let start: (year: Int, month: Int, day: Int, seconds: Int)

    init(_ component: Component) throws(CalendarFault) {
        self.component = component
        from = try Self.offset("TZOFFSETFROM", component)
        to = try Self.offset("TZOFFSETTO", component)
        guard let property = try component.property("DTSTART"), let start = Self.local(property.value) else {
            throw CalendarFault(line: component.line, "A local DTSTART such as 19700329T020000 was expected here.")
        }
        self.start = start
    }

    /// When it begins, by the clock on the wall.
    func locals() throws(CalendarFault) -> [Int] {
        var locals: [Int] = []
        for property in component.properties where property.name == "RDATE" {
            for text in property.value.split(separator: ",") {
                guard let date = Self.local(text) else {
                    throw CalendarFault(line: property.line, "\(text) is no local date-time.")
                }
                locals.append(Self.seconds(date.year, date.month, date.day, date.seconds))
            }
        }
        let first = Self.seconds(start.year, start.month, start.day, start.seconds)
        guard let property = try component.property("RRULE") else { return locals + [first] }
        return locals + (try YearlyRule(property, start: start)).locals(from: first, offset: from, start)
    }

    private static func seconds(_ year: Int, _ month: Int, _ day: Int, _ seconds: Int) -> Int {
        Civil.days(year, month, day) * 86_400 + seconds
    }

    /// `20071104T020000`, of any year since 1600.
    private static func local(
        _ text: some StringProtocol
    ) -> (year: Int, month: Int, day: Int, seconds: Int)? {
        var cursor = TextCursor(text)
        guard let year = cursor.number(4...4), (1600...2100).contains(year), let month = cursor.number(2...2),
            let day = cursor.number(2...2), cursor.take("T") != nil, let hour = cursor.number(2...2),
            let minute = cursor.number(2...2), let second = cursor.number(2...2),
            cursor.isAtEnd || cursor.take("Z") != nil && cursor.isAtEnd,
            Civil.seconds(year, month, day, hour, minute, second) != nil
        else { return nil }
        return (year, month, day, hour * 3_600 + minute * 60 + second)
    }

    private static func offset(_ name: String, _ component: Component) throws(CalendarFault) -> Int {
        if let property = try component.property(name) {
            var cursor = TextCursor(property.value)
            if let sign = cursor.sign(), let hours = cursor.number(2...2), let minutes = cursor.number(2...2) {
                let seconds = cursor.isAtEnd ? 0 : cursor.number(2...2)
                if let seconds, cursor.isAtEnd { return sign * (hours * 3_600 + minutes * 60 + seconds) }
            }
        }
        throw CalendarFault(line: component.line, "\(name) such as +0100 was expected here.")
    }
}

/// `FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU`, as far as time zones need it.
private struct YearlyRule {
    private var month: Int
    private var weekday: (ordinal: Int?, day: Int)?
    private var monthDays: [Int] = []
    private var until: Int?
    private var count: Int?

    private static let weekdays = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"]

    init(
        _ property: Property, start: (year: Int, month: Int, day: Int, seconds: Int)
    ) throws(CalendarFault) {
        month = start.month
        var isYearly = false
        for part in property.value.uppercased().split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, read(pair[0], pair[1], &isYearly) else {
                throw CalendarFault(
                    line: property.line,
                    "\(part) is not read in a time zone's rule; FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU and the like are.")
            }
        }
        guard isYearly else { throw CalendarFault(line: property.line, "FREQ=YEARLY was expected of a time zone.") }
        if weekday == nil, monthDays.isEmpty { monthDays = [start.day] }
    }

    private mutating func read(_ name: Substring, _ value: Substring, _ isYearly: inout Bool) -> Bool {
        switch name {
        case "FREQ": isYearly = value == "YEARLY"
        case "INTERVAL": return value == "1"
        case "WKST": return true
        case "BYMONTH":
            guard let number = Int(value), (1...12).contains(number) else { return false }
            month = number
        case "BYDAY":
            guard let day = Self.weekdays.firstIndex(of: String(value.suffix(2))) else { return false }
            let ordinal = value.dropLast(2)
            guard ordinal.isEmpty || Int(ordinal).map({ $0 != 0 && (-5...5).contains($0) }) ?? false else {
                return false
            }
            weekday = (Int(ordinal), day)
        case "BYMONTHDAY":
            monthDays = Set(value.split(separator: ",").compactMap { Int($0) }).filter { (1...31).contains($0) }
                .sorted()
            return !monthDays.isEmpty
        case "UNTIL":
            switch DatePattern.iso.read(value) {
            case .instant(let seconds), .local(let seconds), .day(let seconds): until = seconds
            // A rule that ended before this century, or goes on beyond it.
            case nil: until = Int(value.prefix(4)).map { $0 >= 2000 } ?? false ? nil : 0
            }
        case "COUNT":
            count = Int(value)
            return count != nil
        default: return false
        }
        return true
    }

    /// When it applies, by the clock on the wall: of the years before 1970 only the last, for files of Outlook begin in
    /// 1601.
    ///
    /// - Parameter offset: in force then, for `UNTIL` is in UTC.
    func locals(
        from first: Int, offset: Int, _ start: (year: Int, month: Int, day: Int, seconds: Int)
    ) -> [Int] {
        var early: Int?
        var locals: [Int] = []
        var count = 0
        search: for year in start.year...max(start.year, ZoneRules.lastYear) {
            for day in days(in: year) {
                let local = day * 86_400 + start.seconds
                guard local >= first else { continue }
                count += 1
                if let until, local - offset > until { break search }
                if let limit = self.count, count > limit { break search }
                if year < 1970 { early = local } else { locals.append(local) }
            }
        }
        return (early.map { [$0] } ?? []) + locals
    }

    /// The days of a year that it names.
    private func days(in year: Int) -> [Int] {
        if let weekday, let ordinal = weekday.ordinal, monthDays.isEmpty {
            return Civil.day(ordinal, weekday.day, year, month).map { [Civil.days(year, month, $0)] } ?? []
        }
        let named = monthDays.isEmpty ? Array(1...31) : monthDays.sorted()
        return named.filter { $0 <= Civil.length(year, month) }.map { Civil.days(year, month, $0) }.filter { day in
            weekday.map { Civil.weekday(day) == $0.day } ?? true
        }
    }
}

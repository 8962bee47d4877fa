/// A time zone as the system has it: RFC 8536 (TZif), as in /usr/share/zoneinfo.
extension ZoneRules {
    /// `nil`: these bytes are no such file.
    package init?(file bytes: [UInt8]) {
        guard let first = Header(bytes, at: 0, timeBytes: 4) else { return nil }
        let header = first.version == 0 ? first : Header(bytes, at: first.end, timeBytes: 8)
        guard let header, let offsets = header.offsets(bytes) else { return nil }
        var transitions: [Transition] = []
        for index in 0..<header.times {
            let at = Self.integer(bytes, header.start + index * header.timeBytes, header.timeBytes)
            let type = Int(bytes[header.start + header.times * header.timeBytes + index])
            guard type < offsets.count else { return nil }
            transitions.append(Transition(at: at, offset: offsets[type]))
        }
        if first.version != 0, let rule = Self.footer(bytes, header.end) {
            let last = transitions.last?.at ?? .min
            for year in 1970...Self.lastYear {
                transitions += rule.transitions(in: year).filter { $0.at > last }
            }
        }
        self.init(initial: offsets[0], transitions: transitions)
    }

    private static func footer(_ bytes: [UInt8], _ start: Int) -> YearlyZone? {
        guard start < bytes.count, bytes[start] == 0x0A,
            let end = bytes[(start + 1)...].firstIndex(of: 0x0A)
        else { return nil }
        return YearlyZone(String(decoding: bytes[(start + 1)..<end], as: UTF8.self))
    }

    /// A big-endian two's complement number of 4 or 8 bytes.
    fileprivate static func integer(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int {
        var value = UInt64(0)
        for byte in bytes[start..<(start + count)] { value = value << 8 | UInt64(byte) }
        return count == 4 ? Int(Int32(truncatingIfNeeded: value)) : Int(truncatingIfNeeded: value)
    }
}

/// The header of a block of data; the block is known to be there whole.
private struct Header {
    let version: UInt8
    let timeBytes: Int
    let times: Int
    let types: Int
    /// The range of the data.
    let start: Int
    let end: Int

    init?(_ bytes: [UInt8], at place: Int, timeBytes: Int) {
        guard bytes.count >= place + 44, bytes[place..<(place + 4)].elementsEqual("TZif".utf8) else { return nil }
        let counts = (0..<6).map { ZoneRules.integer(bytes, place + 20 + 4 * $0, 4) }
        guard counts.allSatisfy({ (0...100_000).contains($0) }), counts[4] > 0 else { return nil }
        version = bytes[place + 4]
        self.timeBytes = timeBytes
        times = counts[3]
        types = counts[4]
        start = place + 44
        let leaps = counts[2] * (timeBytes + 4)
        end = start + times * (timeBytes + 1) + types * 6 + counts[5] + leaps + counts[1] + counts[0]
        guard end <= bytes.count else { return nil }
    }

    /// Seconds east of UTC, by the type of local time.
    func offsets(_ bytes: [UInt8]) -> [Int]? {
        let first = start + times * (timeBytes + 1)
        let offsets = (0..<types).map { ZoneRules.integer(bytes, first + 6 * $0, 4) }
        return offsets.allSatisfy { abs($0) < 200_000 } ? offsets : nil
    }
}

/// A rule that goes on for ever: POSIX `TZ`, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
struct YearlyZone {
    /// Seconds east of UTC, in winter.
    let offset: Int
    /// In summer; `nil`: there is none.
    let daylight: (offset: Int, begins: Day, ends: Day)?

    /// A day of each year, and the seconds after its midnight by the clock then in force.
    struct Day {
        enum Kind {
            /// The last weekday for week 5.
            case weekday(month: Int, week: Int, weekday: Int)
            /// From 1; the 29th of February is not counted.
            case julian(Int)
            /// From 0.
            case ordinal(Int)
        }

        let kind: Kind
        let seconds: Int

        func local(in year: Int) -> Int {
            let day =
                switch kind {
                case .weekday(let month, let week, let weekday):
                    Civil.days(
                        year, month, Civil.day(week == 5 ? -1 : week, weekday, year, month) ?? 1)
                case .julian(let number):
                    Civil.days(year, 1, 1) + number - 1 + (Civil.isLeap(year) && number > 59 ? 1 : 0)
                case .ordinal(let number): Civil.days(year, 1, 1) + number
                }
            return day * 86_400 + seconds
        }
    }

    init?(_ text: String) {
        var cursor = TextCursor(text)
        guard Self.name(&cursor), let west = Self.time(&cursor) else { return nil }
        offset = -west
        if cursor.isAtEnd {
            daylight = nil
            return
        }
        guard Self.name(&cursor) else { return nil }
        let summer = cursor.next == UInt8(ascii: ",") ? offset + 3_600 : Self.time(&cursor).map { -$0 }
        guard let summer, let begins = Self.day(&cursor), let ends = Self.day(&cursor), cursor.isAtEnd else {
            return nil
        }
        daylight = (summer, begins, ends)
    }

    func transitions(in year: Int) -> [ZoneRules.Transition] {
        guard let daylight else { return [] }
        return [
            .init(at: daylight.begins.local(in: year) - offset, offset: daylight.offset),
            .init(at: daylight.ends.local(in: year) - daylight.offset, offset: offset),
        ]
    }

    private static func name(_ cursor: inout TextCursor) -> Bool {
        if cursor.take("<") != nil {
            return !cursor.prefix { $0 != UInt8(ascii: ">") }.isEmpty && cursor.take(">") != nil
        }
        let letters = cursor.prefix { (0x41...0x5A).contains($0 & 0xDF) }
        return letters.count >= 3
    }

    /// `[+-]h[:mm[:ss]]` in seconds.
    private static func time(_ cursor: inout TextCursor) -> Int? {
        let sign = cursor.sign() ?? 1
        guard let hours = cursor.number(1...3) else { return nil }
        var seconds = hours * 3_600
        for unit in [60, 1] where cursor.take(":") != nil {
            guard let number = cursor.number(1...2) else { return nil }
            seconds += number * unit
        }
        return sign * seconds
    }

    private static func day(_ cursor: inout TextCursor) -> Day? {
        guard cursor.take(",") != nil else { return nil }
        let kind: Day.Kind
        if cursor.take("M") != nil {
            guard let month = cursor.number(1...2), (1...12).contains(month), cursor.take(".") != nil,
                let week = cursor.number(1...1), (1...5).contains(week), cursor.take(".") != nil,
                let weekday = cursor.number(1...1), weekday < 7
            else { return nil }
            kind = .weekday(month: month, week: week, weekday: weekday)
        } else if cursor.take("J") != nil {
            guard let number = cursor.number(1...3), (1...365).contains(number) else { return nil }
            kind = .julian(number)
        } else {
            guard let number = cursor.number(1...3), number <= 365 else { return nil }
            kind = .ordinal(number)
        }
        guard cursor.take("/") != nil else { return Day(kind: kind, seconds: 7_200) }
        return time(&cursor).map { Day(kind: kind, seconds: $0) }
    }
}

internal import JSON

/// A season about as large as those of real leagues: every two of twenty clubs meet twice, on match days a week apart,
/// in two time zones, across both clock changes.
package struct Season: Sendable {
    package struct Fixture: Sendable, Hashable {
        package var uid: String
        package var home: String
        package var away: String
        /// Days since 1970-01-01.
        package var day: Int
        /// Minutes from midnight to the kick-off, on the local clock.
        package var minute: Int
        package var zone: String
        package var isCancelled = false

        package var title: String { "\(home) – \(away)" }

        /// The kick-off in seconds since 1970. It is computed here independently of the code under test: summer time is
        /// from the last Sunday of March to the last Sunday of October.
        package var kickOff: Int {
            let local = day * 86_400 + minute * 60
            let standard = zone == "Europe/London" ? 0 : 3_600
            return local - standard - (Season.isSummer(day) ? 3_600 : 0)
        }
    }

    package var fixtures: [Fixture]

    /// - Parameter firstDay: a Saturday, in days since 1970.
    package init(firstDay: Int = Season.august) {
        fixtures = []
        let names = (0..<20).map { "\(Self.towns[$0 % Self.towns.count]) bl1 \($0 + 1)" }
        for home in names.indices {
            for away in names.indices where away != home {
                let (round, pair) = fixtures.count.quotientAndRemainder(dividingBy: 10)
                fixtures.append(
                    Fixture(
                        uid: "bl1-\(round + 1)-\(pair + 1)@fixtures.example.com", home: names[home],
                        away: names[away], day: firstDay + 7 * round + pair % 3 - 1,
                        minute: Self.kickOffs[pair % Self.kickOffs.count],
                        zone: away % 2 == 0 ? "Europe/London" : "Europe/Vienna"))
            }
        }
    }

    /// 2026-08-22.
    package static let august = 20_687

    private static let kickOffs = [20 * 60 + 30, 15 * 60, 17 * 60 + 30, 13 * 60 + 30]
    private static let towns = [
        "Köln", "St. Pölten", "Brighton & Hove", "Łódź", "Århus", "Nîmes", "\"Old\" Town, East",
    ]

    package static func isSummer(_ day: Int) -> Bool {
        // Summer time begins on 2026-03-29 and 2027-03-28, and ends on 2026-10-25 and 2027-10-31.
        (20_541..<20_751).contains(day) || (20_905..<21_122).contains(day)
    }

    /// Days since 1970 as `YYYYMMDD`.
    private static func date(_ day: Int, separator: String = "") -> String {
        let day = CivilDay(day)
        return [day.year, day.month, day.day].map(two).joined(separator: separator)
    }

    private static func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
}

extension Season {
    /// The season as iCalendar, with lines folded after 73 bytes.
    package func ics() -> [UInt8] {
        var lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Example//Fixtures//EN"]
        for fixture in fixtures {
            let zone = fixture.zone == "Europe/London" ? fixture.zone : "\"\(fixture.zone)\""
            let time = "\(Self.date(fixture.day))T\(Self.two(fixture.minute / 60))\(Self.two(fixture.minute % 60))00"
            lines += [
                "BEGIN:VEVENT", "UID:\(fixture.uid)", "DTSTAMP:20260601T120000Z", "DTSTART;TZID=\(zone):\(time)",
                "DURATION:PT1H45M", "SUMMARY:\(Self.escaped(fixture.title))",
                "LOCATION:\(Self.escaped(fixture.home)) Stadium\\, Gate 4\\nbring your ticket",
            ]
            if fixture.isCancelled { lines.append("STATUS:CANCELLED") }
            lines += ["BEGIN:VALARM", "TRIGGER:-PT15M", "ACTION:DISPLAY", "END:VALARM", "END:VEVENT"]
        }
        lines.append("END:VCALENDAR")
        var bytes: [UInt8] = []
        for line in lines {
            // Fold by bytes, even within a character, as the format allows.
            for (place, byte) in line.utf8.enumerated() {
                if place > 0, place % 73 == 0 { bytes += "\r\n ".utf8 }
                bytes.append(byte)
            }
            bytes += "\r\n".utf8
        }
        return bytes
    }

    /// The season as CSV with the columns `id`, `date`, `time`, `zone`, `Team 1`, `Team 2`, `state`.
    package func csv() -> [UInt8] {
        func quoted(_ text: String) -> String {
            text.contains(",") || text.contains("\"")
                ? "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
                : text
        }
        var lines = ["id,date,Team 1,Team 2,time,zone,state"]
        for fixture in fixtures {
            let fields = [
                fixture.uid, Self.date(fixture.day, separator: "-"), fixture.home, fixture.away,
                "\(Self.two(fixture.minute / 60)):\(Self.two(fixture.minute % 60))", fixture.zone,
                fixture.isCancelled ? "cancelled" : "",
            ]
            lines.append(fields.map(quoted).joined(separator: ","))
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    private static func escaped(_ text: String) -> String {
        text.map { ",;\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}

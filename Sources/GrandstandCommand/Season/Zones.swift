internal import Foundation

/// The time zones of one file. Each is looked up once.
struct Zones {
    /// The time zone for times that have none.
    let floating: TimeZone
    private let fallback: TimeZone?
    /// `nil`: this machine does not know the zone.
    private var known: [String: TimeZone?] = [:]

    /// - Parameter named: the file's time zone for times that have none. Many files have an invalid name for this time
    ///   zone; such a name counts as UTC.
    init(reading: CalendarReading, named: String?) {
        floating = reading.fallback ?? reading.timeZone ?? named.flatMap(TimeZone.named) ?? .gmt
        fallback = reading.fallback
    }

    /// - Throws: if this machine does not know the time zone.
    mutating func zone(_ name: String, line: Int) throws(CalendarFault) -> TimeZone {
        if known[name] == nil { known.updateValue(Self.zone(name) ?? fallback, forKey: name) }
        if let zone = known[name] ?? nil { return zone }
        throw CalendarFault(
            line: line,
            "There is no time zone \(name.prefix(100)) on this machine. Name one with --time-zone, e.g. Europe/Vienna.")
    }

    /// Also accepts names that end with a zone's name: `/freeassociation.sourceforge.net/Europe/Berlin`.
    private static func zone(_ name: String) -> TimeZone? {
        if let zone = TimeZone.named(name) { return zone }
        let parts = name.split(separator: "/", maxSplits: 10)
        for count in [3, 2] where parts.count > count {
            if let zone = TimeZone.named(parts.suffix(count).joined(separator: "/")) { return zone }
        }
        return nil
    }
}

/// Local times, in seconds since 1970 as if they were in UTC.
extension TimeZone {
    /// The time zone with this name, such as `Europe/Vienna`; `nil`: this machine does not know it.
    static func named(_ name: String) -> TimeZone? {
        // Names that cannot be a time zone are not looked up.
        func isPart(_ byte: UInt8) -> Bool {
            (0x41...0x5A).contains(byte & 0xDF) || (0x30...0x39).contains(byte) || "_+-/".utf8.contains(byte)
        }
        guard name.utf8.count <= 64, name.utf8.allSatisfy(isPart), !name.hasPrefix("/"), !name.hasSuffix("/") else {
            return nil
        }
        return TimeZone(identifier: name)
    }

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

internal import Foundation

/// The time zones of one file, each looked up once.
struct Zones {
    /// Of times that say none.
    let floating: TimeZone
    private let fallback: TimeZone?
    private var known: [String: TimeZone] = [:]
    private var unknown: Set<String> = []

    /// - Parameter named: the time zone of the file's times that say none. Files often write there what is no time zone's
    ///   name; it is UTC then.
    init(reading: CalendarReading, named: String?) {
        floating = reading.fallback ?? reading.timeZone ?? named.flatMap(TimeZone.named) ?? .utc
        fallback = reading.fallback
    }

    /// - Throws: for a name that this machine does not know.
    mutating func zone(_ name: String, line: Int) throws(CalendarFault) -> TimeZone {
        if let zone = known[name] { return zone }
        if !unknown.contains(name) {
            if let zone = Self.zone(name) ?? fallback {
                known[name] = zone
                return zone
            }
            unknown.insert(name)
        }
        throw CalendarFault(
            line: line,
            "There is no time zone \(name.prefix(100)) on this machine; --time-zone Europe/Vienna says which is meant.")
    }

    /// Also by names that end with a zone's: `/freeassociation.sourceforge.net/Europe/Berlin`.
    private static func zone(_ name: String) -> TimeZone? {
        if let zone = TimeZone.named(name) { return zone }
        let parts = name.split(separator: "/", maxSplits: 10)
        for count in [3, 2] where parts.count > count {
            if let zone = TimeZone.named(parts.suffix(count).joined(separator: "/")) { return zone }
        }
        return nil
    }
}

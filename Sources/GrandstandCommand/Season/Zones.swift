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
        floating = reading.fallback ?? reading.timeZone ?? named.flatMap(TimeZone.named) ?? .utc
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

internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// A time for people and for machines, both in UTC.
struct Moment: Sendable, Equatable {
    /// RFC 3339.
    let iso: String
    /// `2026-11-21 20:45:07 UTC`
    let text: String

    init(_ date: Date) {
        iso = RFC3339.text(date)
        text = Self.readable(iso)
    }

    /// A time that is RFC 3339 already, as reports have it; text of any other form is shown as it is.
    init(iso: String) {
        self.iso = iso
        text = RFC3339.date(iso).map { Self.readable(RFC3339.text($0)) } ?? iso
    }

    /// Seconds since 1970.
    init(epoch: Int) { self.init(Date(timeIntervalSince1970: Double(epoch))) }

    private static func readable(_ iso: String) -> String {
        let parts = iso.split(separator: "T", maxSplits: 1)
        guard parts.count == 2 else { return iso }
        return "\(parts[0]) \(parts[1].prefix(8)) UTC"
    }
}

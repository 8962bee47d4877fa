internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// A time for people and machines, in UTC. The script `console.js` shows the time in the reader's zone, also within a
/// sentence that contains `text`.
struct Moment: Sendable, Equatable {
    /// The time in RFC 3339 format.
    let iso: String
    /// `2026-11-21 20:45 UTC`, with seconds where they matter.
    let text: String
    /// Whether seconds matter.
    let isExact: Bool

    init(_ date: Date, exact: Bool = false) {
        iso = RFC3339.text(date)
        text = Self.readable(iso, exact)
        isExact = exact
    }

    /// Takes a time in RFC 3339, as reports have it. Other text is shown unchanged.
    init(iso: String) {
        self.iso = iso
        text = RFC3339.date(iso).map { Self.readable(RFC3339.text($0), false) } ?? iso
        isExact = false
    }

    /// Seconds since 1970.
    init(epoch: Int) { self.init(Date(timeIntervalSince1970: Double(epoch))) }

    /// `2026-11-21`
    var day: String { String(iso.prefix(10)) }

    private static func readable(_ iso: String, _ exact: Bool) -> String {
        let parts = iso.split(separator: "T", maxSplits: 1)
        guard parts.count == 2 else { return iso }
        return "\(parts[0]) \(parts[1].prefix(exact ? 8 : 5)) UTC"
    }
}

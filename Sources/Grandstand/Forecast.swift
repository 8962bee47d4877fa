package import FoundationEssentials

/// How many channels an app will hold: what holds a place now and until when, and what its events will open.
package struct Forecast: Sendable, Hashable {
    /// The most channels held at once, from now on.
    package var peak: Int
    package var peakAt: Date
    /// The first moment at which the limit would be exceeded; `nil`: never.
    package var exceedsAt: Date?

    package init(peak: Int, peakAt: Date, exceedsAt: Date?) {
        self.peak = peak
        self.peakAt = peakAt
        self.exceedsAt = exceedsAt
    }

    /// A channel with a place, or one that will take one.
    package struct Span: Sendable, Hashable {
        /// When a channel that is not held yet takes its place.
        package var opensAt: Date
        /// When it gives its place back; `nil`: at no time that is known.
        package var closesAt: Date?
        /// It has its place now, whatever its times say.
        package var isHeld: Bool

        package init(opensAt: Date, closesAt: Date?, isHeld: Bool = false) {
            self.opensAt = opensAt
            self.closesAt = closesAt
            self.isHeld = isHeld
        }
    }

    /// How many channels are held from a moment on.
    package struct Point: Sendable, Hashable {
        package var at: Date
        package var count: Int

        package init(at: Date, count: Int) {
            self.at = at
            self.count = count
        }
    }

    /// How the number of channels changes in the next thirty days: by quarters of an hour for two days, by four hours
    /// after that. Of what changes in one of these the highest count stands for all, and at its end the one that goes on.
    package static func course(spans: [Span], now: Date) -> [Point] {
        let (held, changes) = Self.changes(spans: spans, now: now)
        var points: [Point] = []
        var count = held
        var slotEnd = now
        func close() {
            if let last = points.last, last.count != count { points.append(Point(at: slotEnd, count: count)) }
        }
        for change in changes where change.at <= now.addingTimeInterval(30 * 86_400) {
            if change.at < slotEnd, let last = points.last {
                count += change.by
                points[points.count - 1].count = max(last.count, count)
            } else {
                close()
                count += change.by
                points.append(Point(at: change.at, count: count))
                let width: TimeInterval = change.at < now.addingTimeInterval(2 * 86_400) ? 900 : 14_400
                slotEnd = change.at.addingTimeInterval(width)
            }
        }
        close()
        return points
    }

    /// Sweeps over the spans in order of time. The peak is never below what is held now.
    ///
    /// - Parameter spans: one for each channel held, and one for each that is still to come.
    package init(spans: [Span], limit: Int, now: Date) {
        let (held, changes) = Self.changes(spans: spans, now: now)
        var count = held
        peak = held
        peakAt = now
        exceedsAt = held > limit ? now : nil
        for change in changes {
            count += change.by
            if count > peak {
                peak = count
                peakAt = change.at
            }
            if count > limit, exceedsAt == nil { exceedsAt = change.at }
        }
    }

    /// The places held now, and each that is taken or given back from then on, in order.
    private static func changes(spans: [Span], now: Date) -> (held: Int, changes: [(at: Date, by: Int)]) {
        var changes: [(at: Date, by: Int)] = []
        var held = 0
        for span in spans {
            if span.isHeld {
                held += 1
            } else {
                let opensAt = max(span.opensAt, now)
                guard span.closesAt.map({ $0 > opensAt }) ?? true else { continue }
                changes.append((opensAt, 1))
            }
            if let closesAt = span.closesAt { changes.append((max(closesAt, now), -1)) }
        }
        // At one moment, places are given back before others are taken.
        changes.sort { ($0.at, $0.by) < ($1.at, $1.by) }
        return (held, changes)
    }
}

package import FoundationEssentials

/// A forecast of how many channels an app will have: the present ones until they close, and those of coming events.
package struct Forecast: Sendable, Hashable {
    /// The most channels at the same time from now on.
    package var peak: Int
    package var peakAt: Date
    /// The first moment at which the limit would be exceeded; `nil`: never.
    package var exceedsAt: Date?

    package init(peak: Int, peakAt: Date, exceedsAt: Date?) {
        self.peak = peak
        self.peakAt = peakAt
        self.exceedsAt = exceedsAt
    }

    /// A channel with a place at Apple, or one that will take a place.
    package struct Span: Sendable, Hashable {
        /// When a channel that has no place yet takes one.
        package var opensAt: Date
        /// When the channel frees its place; `nil`: unknown.
        package var closesAt: Date?
        /// The channel has its place now, whatever its times say.
        package var isHeld: Bool

        package init(opensAt: Date, closesAt: Date?, isHeld: Bool = false) {
            self.opensAt = opensAt
            self.closesAt = closesAt
            self.isHeld = isHeld
        }
    }

    /// The number of channels from a time on.
    package struct Point: Sendable, Hashable {
        package var at: Date
        package var count: Int

        package init(at: Date, count: Int) {
            self.at = at
            self.count = count
        }
    }

    /// The number of channels over the next thirty days, in steps of 15 minutes for two days and of four hours after
    /// that. Each step shows its highest count. If the count at the end of a step is lower, another point shows it.
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

    /// Computes the forecast in order of time. The peak is at least the present number of channels.
    ///
    /// - Parameter spans: one for each present channel and one for each future channel.
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

    /// The number of channels now, and the later changes in order of time.
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
        // At the same time, places are freed before others are taken.
        changes.sort { ($0.at, $0.by) < ($1.at, $1.by) }
        return (held, changes)
    }
}

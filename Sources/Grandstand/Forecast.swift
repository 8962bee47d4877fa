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

    /// Sweeps over the spans in order of time. The peak is never below what is held now.
    ///
    /// - Parameter spans: one for each channel held, and one for each that is still to come.
    package init(spans: [Span], limit: Int, now: Date) {
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
}

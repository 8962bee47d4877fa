package import FoundationEssentials

/// How many channels an app will hold, from what its events say of their times.
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

    /// When an event's channel takes a place and when it gives it back; `nil`: at no time that is known.
    package struct Span: Sendable, Hashable {
        package var opensAt: Date
        package var closesAt: Date?

        package init(opensAt: Date, closesAt: Date?) {
            self.opensAt = opensAt
            self.closesAt = closesAt
        }
    }

    /// Sweeps over the spans in order of time.
    ///
    /// - Parameters:
    ///   - held: channels held now that no span speaks of.
    ///   - spans: one for each channel of an event that is not over, held already or still to come.
    package init(held: Int, spans: [Span], limit: Int, now: Date) {
        var changes: [(at: Date, by: Int)] = []
        for span in spans where span.closesAt.map({ $0 > now }) ?? true {
            changes.append((max(span.opensAt, now), 1))
            if let closesAt = span.closesAt { changes.append((max(closesAt, span.opensAt), -1)) }
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

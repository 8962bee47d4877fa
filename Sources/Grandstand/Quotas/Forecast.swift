package import FoundationEssentials
package import GrandstandContract

/// A forecast of how many channels an app will have: the present ones until they close, and those of coming events.
package typealias Forecast = Contract.Forecast

extension Contract.Forecast {
    /// A channel with a place at Apple, or one that will take a place.
    package struct Stay: Sendable, Hashable {
        /// When a channel that has no place yet takes one.
        package var opensAt: Date
        /// When the channel frees its place; `nil`: unknown.
        package var closesAt: Date?
        /// The channel has its place now, whatever its times say.
        package var isHeld = false
        /// From when a channel without a place takes the place of a channel that yields; `nil`: never.
        package var needsAt: Date?
        /// From when the channel yields its place to a channel that needs one; `nil`: never.
        package var yieldsAt: Date?

        /// A channel whose end is unknown.
        package static func openEnded(isHeld: Bool, now: Date) -> Stay {
            Stay(opensAt: now, isHeld: isHeld)
        }
    }

    /// The forecast. The peak is at least the present number of channels.
    ///
    /// - Parameter spans: one for each present channel and one for each future channel.
    package init(spans: [Stay], limit: Int, now: Date) {
        let held = spans.count(where: \.isHeld)
        self.init(peak: held, peakAt: now, exceedsAt: held > limit ? now : nil)
        for (at, count) in Self.course(spans: spans, limit: limit, now: now) {
            if count > peak { (peak, peakAt) = (count, at) }
            if count > limit, exceedsAt == nil { exceedsAt = at }
        }
    }

    /// What happens to a span. At the same time, places are freed before others are taken.
    private enum Step: Int {
        case closes, yields, opens, needs
    }

    /// The number of channels after each change from now on, in order of time. At the limit, a channel that needs a
    /// place takes the place of one that yields.
    package static func course(spans: [Stay], limit: Int, now: Date) -> [(at: Date, count: Int)] {
        var steps: [(at: Date, step: Step, span: Int)] = []
        for (index, span) in spans.enumerated() {
            let opensAt = max(span.opensAt, now)
            if !span.isHeld {
                guard span.closesAt.map({ $0 > opensAt }) ?? true else { continue }
                steps.append((opensAt, .opens, index))
                if let needsAt = span.needsAt, needsAt > opensAt { steps.append((needsAt, .needs, index)) }
            }
            if let yieldsAt = span.yieldsAt, span.isHeld || yieldsAt > opensAt {
                steps.append((max(yieldsAt, now), .yields, index))
            }
            if let closesAt = span.closesAt { steps.append((max(closesAt, now), .closes, index)) }
        }
        steps.sort { ($0.at, $0.step.rawValue) < ($1.at, $1.step.rawValue) }
        var (count, points): (Int, [(at: Date, count: Int)]) = (spans.count(where: \.isHeld), [])
        var (yielding, gone): (ArraySlice<Int>, Set<Int>) = ([], [])
        func free(_ span: Int, at: Date) {
            guard gone.insert(span).inserted else { return }
            count -= 1
            points.append((at, count))
        }
        for (at, step, span) in steps {
            switch step {
            case .closes: free(span, at: at)
            case .yields: yielding.append(span)
            case .opens, .needs:
                let taken = step == .opens ? 1 : 0
                if count + taken > limit, spans[span].needsAt.map({ $0 <= at }) ?? false {
                    yielding = yielding.drop(while: gone.contains)
                    if let first = yielding.popFirst() { free(first, at: at) }
                }
                count += taken
                if taken > 0 { points.append((at, count)) }
            }
        }
        return points
    }
}

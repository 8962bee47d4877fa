package import FoundationEssentials
package import GrandstandContract
internal import JSON

extension Contract.BroadcastDraft {
    /// When it is to be sent; `nil`: at once.
    ///
    /// - Throws: `invalid-request` if the time counts from the event's start, and that is not known.
    package func sendAt(startsAt: Date?, of target: BroadcastTarget) throws(Problem) -> Date? {
        guard case .afterStart(let seconds) = sendAt else {
            if case .at(let date) = sendAt { return date }
            return nil
        }
        guard let startsAt else {
            let detail =
                if let key = target.eventKey {
                    "sendAt counts from startsAt of the event \(key), which has none. Declare its startsAt, or send a time."
                } else {
                    "sendAt counts from the start of an event, but this broadcast is not for an event. Send a time."
                }
            throw Problem.invalid("The message's time is not known.", at: "/sendAt", detail)
        }
        return startsAt.addingTimeInterval(Double(seconds.afterStart))
    }

    /// Seconds from the start of the event to the time at which it is sent; negative before the start.
    package var afterStart: Int? { if case .afterStart(let time) = sendAt { time.afterStart } else { nil } }

    /// Warnings about its times, for the organiser.
    ///
    /// - Parameters:
    ///   - now: when it is accepted.
    ///   - sendAt: when it is to be sent.
    package func warnings(at now: Date, endsAt: Date?, sendAt: Date?) -> [String] {
        var warnings: [String] = []
        let goesAt = max(now, sendAt ?? now)
        if let sendAt {
            let words = "sendAt\(afterStart.map { " (\($0) s after startsAt)" } ?? "") is \(RFC3339.text(sendAt))"
            if sendAt < now { warnings.append("\(words), which is in the past: this is sent at once.") }
            if let endsAt, sendAt > endsAt {
                warnings.append("\(words), which is after endsAt of the event, \(RFC3339.text(endsAt)).")
            }
        }
        if let staleDate = staleDate.map({ Date(epoch: $0.epoch) }), staleDate <= goesAt {
            warnings.append(
                "staleDate is \(RFC3339.text(staleDate)), but this is sent at \(RFC3339.text(goesAt)), which is not "
                    + "earlier: phones show it as out of date at once.")
        }
        return warnings
    }
}

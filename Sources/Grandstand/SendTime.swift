internal import APNsWire
package import FoundationEssentials
internal import JSON

/// The start and end of a broadcast's event. A broadcast to a channel or a token without an event has neither.
package struct EventTimes: Sendable, Hashable {
    package var startsAt: Date?
    package var endsAt: Date?

    package init(startsAt: Date? = nil, endsAt: Date? = nil) {
        self.startsAt = startsAt
        self.endsAt = endsAt
    }
}

extension BroadcastRequest {
    /// The request with the `sendAt` that its `sendAfterStart` gives.
    ///
    /// - Throws: `invalid-request` when the event's start is not known.
    package func timed(by times: EventTimes, for target: BroadcastTarget) throws(Problem) -> BroadcastRequest {
        guard let sendAfterStart else { return self }
        guard let startsAt = times.startsAt else {
            let detail =
                if let key = target.eventKey {
                    "sendAt counts from startsAt of the event \(key), which has none. Declare its startsAt, or send a time."
                } else {
                    "sendAt counts from the start of an event, but this broadcast is not for an event. Send a time."
                }
            throw Problem.invalid("The message's time is not known.", at: "/sendAt", detail)
        }
        var request = self
        request.sendAt = startsAt.addingTimeInterval(Double(sendAfterStart))
        return request
    }

    /// Warnings about the request's times, for the organiser.
    ///
    /// - Parameter now: when the request is accepted.
    package func warnings(at now: Date, _ times: EventTimes) -> [String] {
        var warnings: [String] = []
        let goesAt = max(now, sendAt ?? now)
        if let sendAt {
            let words = "sendAt\(sendAfterStart.map { " (\($0) s after startsAt)" } ?? "") is \(RFC3339.text(sendAt))"
            if sendAt < now { warnings.append("\(words), which is in the past: this is sent at once.") }
            if let endsAt = times.endsAt, sendAt > endsAt {
                warnings.append("\(words), which is after endsAt of the event, \(RFC3339.text(endsAt)).")
            }
        }
        if let staleDate = payload.staleDate.map({ Date(timeIntervalSince1970: Double($0)) }), staleDate <= goesAt {
            warnings.append(
                "staleDate is \(RFC3339.text(staleDate)), but this is sent at \(RFC3339.text(goesAt)), which is not "
                    + "earlier: phones show it as out of date at once.")
        }
        return warnings
    }
}

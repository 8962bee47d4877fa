internal import APNsWire
package import FoundationEssentials
internal import JSON

/// The times of the event that a broadcast is for; a channel or a token without an event has none.
package struct EventTimes: Sendable, Hashable {
    package var startsAt: Date?
    package var endsAt: Date?

    package init(startsAt: Date? = nil, endsAt: Date? = nil) {
        self.startsAt = startsAt
        self.endsAt = endsAt
    }
}

extension BroadcastRequest {
    /// The request with the time that its `sendAfterStart` comes to.
    ///
    /// - Throws: `invalid-request` when it counts from a start that is not known.
    package func timed(by times: EventTimes, for target: BroadcastTarget) throws(Problem) -> BroadcastRequest {
        guard let sendAfterStart else { return self }
        guard let startsAt = times.startsAt else {
            let detail =
                if let key = target.eventKey {
                    "sendAt counts from startsAt of the event \(key), which has none. Declare its startsAt, or send a time."
                } else {
                    "sendAt counts from the start of an event, and this is for none. Send a time."
                }
            throw Problem.invalid("The message's time is not known.", at: "/sendAt", detail)
        }
        var request = self
        request.sendAt = startsAt.addingTimeInterval(Double(sendAfterStart))
        return request
    }

    /// What its organiser should know of the times that it gives.
    ///
    /// - Parameter now: when it is accepted.
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
                "staleDate is \(RFC3339.text(staleDate)), which is past when this is sent, at \(RFC3339.text(goesAt)): "
                    + "phones show it as out of date at once.")
        }
        return warnings
    }
}

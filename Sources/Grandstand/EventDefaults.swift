package import APNsWire
package import FoundationEssentials
package import GrandstandContract

extension Contract.EventDefaults {
    package var isEmpty: Bool { self == Contract.EventDefaults() }

    /// When the content of a message sent at `time` becomes stale, in seconds since 1970.
    package func staleDate(at time: Date) -> Int? {
        staleAfter.map { Int(time.timeIntervalSince1970.rounded(.down)) + $0 }
    }
}

extension BroadcastRequest {
    /// The request with the event's defaults in place of values that the request does not set.
    ///
    /// - Parameter time: when the message is sent.
    package func filled(by defaults: Contract.EventDefaults, at time: Date) -> BroadcastRequest {
        var request = self
        request.eventPriority = defaults.priority.flatMap(APNsPriority.init(rawValue:))
        // Activities that miss an `end` would stay, so an `end` does not expire early.
        if payload.event == .update, apnsExpiration == nil { request.expiresIn = expiresIn ?? defaults.expiresIn }
        request.payload.staleDate = payload.staleDate ?? defaults.staleDate(at: time)
        request.payload.relevanceScore = payload.relevanceScore ?? defaults.relevanceScore.map { Array($0.bytes) }
        return request
    }
}

extension APNsPriority {
    /// - Throws: `internal-error` for a number that openapi.yaml does not allow.
    package init?(_ number: Int?) throws(Problem) {
        guard let number else { return nil }
        guard let priority = APNsPriority(rawValue: number) else {
            throw Problem(.internalError, "openapi.yaml allows a priority that this server does not know.")
        }
        self = priority
    }
}

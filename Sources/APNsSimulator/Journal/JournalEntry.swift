package import APNsWire
package import FoundationEssentials

/// One request with its answer.
package struct JournalEntry: Sendable, Hashable {
    /// Whether the answer reached the client.
    package enum Fate: String, Sendable, Hashable, CaseIterable {
        case answered
        /// The answer was withheld for a while (the fault `delay`).
        case held
        /// The request was processed, but never answered (the fault `lose`).
        case dropped
        /// The request was neither processed nor answered: a fault ended the request before it was processed.
        case unprocessed
    }

    /// 1 for the first request since the start. It keeps growing when the journal is cleared.
    package var number: Int
    /// The time on the simulator's clock.
    package var time: Date
    /// The request as received, including its token.
    package var request: SimulatorRequest
    /// The route; `nil` if APNs has no such path or method.
    package var operation: Route.Operation?
    /// The status of the answer; 0: there was none.
    package var status: Int
    /// Why the request was refused; `nil` when it was accepted.
    package var reason: APNsReason?
    /// The `apns-request-id` or `apns-id` of the answer; empty when there was none.
    package var requestID = ""
    /// Whether the answer was sent.
    package var fate: Fate
    /// The name of the fault that acted on the request; `nil`: none.
    package var fault: String?
}

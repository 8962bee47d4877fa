package import APNsWire
package import FoundationEssentials

/// One request with its answer.
package struct JournalEntry: Sendable, Hashable {
    /// Whether the verdict reached the client.
    package enum Fate: String, Sendable, Hashable, CaseIterable {
        case answered
        /// Withheld for a while (`Simulator.hold`, the fault `delay`).
        case held
        /// Processed, and never answered (`Simulator.dropNext`, the fault `lose`).
        case dropped
        /// Neither processed nor answered: the faults that end a request before its rules.
        case unprocessed
    }

    /// 1 for the first request since the start; rises by one, also when the journal was cleared.
    package var number: Int
    /// By the simulator's clock.
    package var time: Date
    /// As it came, its token included.
    package var request: SimulatorRequest
    /// The route; `nil` when path or method were none of APNs'.
    package var operation: Route.Operation?
    /// The verdict's status; 0 when there was none.
    package var status: Int
    /// Why it was refused; `nil` when it was accepted.
    package var reason: APNsReason?
    /// The `apns-request-id` or `apns-id` of the answer; empty when there was none.
    package var requestID = ""
    /// Whether the verdict went out.
    package var fate: Fate
    /// The name of the fault that acted on it.
    package var fault: String?
}

package import APNsWire
package import FoundationEssentials

/// One request, and what became of it.
package struct JournalEntry: Sendable, Hashable {
    /// Whether the verdict reached the client.
    package enum Fate: Sendable, Hashable {
        case answered
        /// Withheld for a while (`Simulator.hold`).
        case held
        /// Processed, and never answered (`Simulator.dropNext`).
        case dropped
    }

    /// 1 for the first request since the start; rises by one, also when the journal was cleared.
    package var number: Int
    /// By the simulator's clock.
    package var time: Date
    /// As it came, its token included.
    package var request: SimulatorRequest
    /// The verdict's status.
    package var status: Int
    /// Why it was refused; `nil` when it was accepted.
    package var reason: APNsReason?
    /// Whether the verdict went out.
    package var fate: Fate
}

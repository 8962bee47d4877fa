/// Wakes loops when the database holds work for them. A wake-up says nothing of what to do: loops recompute from state.
package protocol WakeSignals: Sendable {
    /// Yields whenever there may be new work of `topic`, also after a time in which signals may have been lost.
    func wakes(_ topic: WakeTopic) -> AsyncStream<Void>
}

/// What a loop can be woken for.
package enum WakeTopic: String, Sendable, Hashable, CaseIterable {
    /// Lanes have new deliveries.
    case outbox = "grandstand_outbox"
    /// What channels should exist has changed.
    case channels = "grandstand_channels"
}

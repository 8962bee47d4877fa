package import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// Something that this process did and that metrics count. The receiver chooses metric names and labels.
package enum Occurrence: Sendable, Hashable {
    /// A delivery reached its final state. `reason` is APNs' reason or the server's own.
    case settled(APNsEnvironment, Contract.DeliveryState, reason: String?)
    /// APNs accepted a broadcast. `after` is the number of seconds since the server accepted the broadcast, or since its
    /// `sendAt`.
    case apnsAccepted(after: TimeInterval)
    /// Requests to an environment's host were suspended or resumed (`Circuit`).
    case circuit(APNsEnvironment, isOpen: Bool)
    /// APNs answered 429.
    case throttled(AppEnvironment, Contract.APNsAPI)
    /// A push to start an activity reached its final state.
    case startPushed(StartRowState, reason: String?)
    case reconciled(ReconciliationResult)
    /// The outcome of a state report. If nothing was new, `saved` messages to audiences were avoided.
    case newState(Contract.StateOutcome, saved: Int)
    /// A webhook message reached its final state.
    case webhookPosted(isDelivered: Bool)
}

/// The result of a reconciliation, for metrics.
package enum ReconciliationResult: String, Sendable, Hashable, CaseIterable {
    /// The reconciliation ran and raised no alarm.
    case ok
    /// The reconciliation ran and raised an alarm.
    case alarm
    /// The reconciliation failed: Apple's list or the database could not be read.
    case failed
}

/// Counts an occurrence. It is called often and from any task, so it must not block.
package typealias Counter = @Sendable (Occurrence) -> Void

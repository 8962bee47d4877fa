package import APNsWire
package import FoundationEssentials

/// Something that this process did and that its metrics count. The counter decides about names and labels.
package enum Occurrence: Sendable, Hashable {
    /// A delivery came to its end; with APNs' reason, or ours in words.
    case settled(APNsEnvironment, Delivery.State, reason: String?)
    /// APNs accepted a broadcast or a single push, so many seconds after it was accepted here, or was to go.
    case accepted(after: TimeInterval)
    /// Sends to an environment's host were suspended (`Circuit`), or go on.
    case circuit(APNsEnvironment, isOpen: Bool)
    /// APNs answered 429.
    case throttled(AppEnvironment, AppSendRate.API)
    /// A push that was to start an activity came to its end.
    case started(StartState, reason: String?)
    case reconciled(ReconciliationResult)
    /// A state came to this. Where nothing was new, so many messages to audiences were saved.
    case told(StateOutcome, saved: Int)
    /// A message to a webhook came to its end.
    case posted(isDelivered: Bool)
}

/// How a reconciliation ended, as it is counted.
package enum ReconciliationResult: String, Sendable, Hashable, CaseIterable {
    /// It was carried out, and warns of nothing.
    case ok
    /// It was carried out, and raised an alarm.
    case alarm
    /// It came to nothing: Apple's list or the database could not be read.
    case failed
}

/// Counts what happened. Called often and from any task, so it must not wait.
package typealias Counting = @Sendable (Occurrence) -> Void

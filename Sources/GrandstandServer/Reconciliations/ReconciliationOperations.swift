internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// Reconciliations that operators ask for and wait for.
struct ReconciliationOperations: Sendable {
    let store: ReconciliationStore
    let reconciliation: Reconciliation
    let operations: ChannelOperations
    let now: @Sendable () -> Date

    /// Reconciles one app and environment now.
    ///
    /// - Throws: `app-not-found`, `reconciliation-running`; `apns-refused`, `apns-unanswered` or `credentials-missing`
    ///   if Apple's list could not be read; in this case, nothing was changed.
    func reconcile(
        _ app: AppEnvironment, _ options: ReconciliationOptions, by actor: AuditActor
    ) async throws -> Contract.Reconciliation {
        let run = try await store.begin(app, now: now(), leasedUntil: reconciliation.leasedUntil)
        do {
            return try await reconciliation.perform(run, options, by: actor)
        } catch let error as Reconciliation.Unreadable {
            throw try await operations.problem(error.answer, address: error.address, verb: "list the channels")
        } catch is ReconciliationLost {
            throw Problem(
                .reconciliationRunning, "Another server took this reconciliation over. GET the list for its report.",
                retryAfter: 5)
        }
    }
}

internal import FoundationEssentials
internal import Grandstand

/// Reconciliations that operators ask for and wait for.
struct ReconciliationOperations: Sendable {
    private let store: any ReconciliationStore
    private let reconciliation: Reconciliation
    private let operations: ChannelOperations
    private let now: @Sendable () -> Date

    init(
        store: any ReconciliationStore, reconciliation: Reconciliation, operations: ChannelOperations,
        now: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.reconciliation = reconciliation
        self.operations = operations
        self.now = now
    }

    /// Reconciles one app and environment now.
    ///
    /// - Throws: `app-not-found`, `reconciliation-running`; `apns-refused`, `apns-unanswered` or `credentials-missing`
    ///   if Apple's list could not be read; in this case, nothing was changed.
    func reconcile(
        _ app: AppEnvironment, _ options: ReconciliationOptions, by actor: AuditActor
    ) async throws -> ReconciliationReport {
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

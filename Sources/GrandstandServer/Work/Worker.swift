internal import FoundationEssentials
internal import Grandstand
internal import Logging

/// What the loops of this process share that claim work which other replicas could claim, too.
struct Worker: Sendable {
    /// Seconds until another replica takes over the work of a replica that died. Who still works extends the lease, so a
    /// lease may be shorter than a request.
    let lease: TimeInterval
    /// How long a stop waits for work in progress.
    let drain: Drain
    /// The longest sleep of dispatchers. The poll after this sleep finds work whose signal was lost.
    var pollInterval = Duration.seconds(1)
    let signals: WakeUps
    let now: @Sendable () -> Date
    /// Whether this process may claim work now. It is called before every claim.
    var mayClaim: @Sendable () -> Bool = { true }
    var counting: Counter = { _ in }
    var logger: Logger
    /// Names this process in leases.
    let replica = UUID()

    var leasedUntil: Date { now().addingTimeInterval(lease) }

    /// Extends a lease three times in each lease time, until the task is cancelled. So leases can be short, and the work
    /// of a dead process is taken over within seconds.
    ///
    /// - Parameter extend: extends the lease once. The errors of `extend` are logged as warnings.
    func keepLease(_ extend: @escaping @Sendable () async throws -> Void) -> Task<Void, Never> {
        Task {
            while (try? await Task.sleep(for: .seconds(lease / 3))) != nil {
                do {
                    try await extend()
                } catch {
                    logger.failed(
                        "work in progress could not be kept reserved; another server may repeat it", error, at: .warning
                    )
                }
            }
        }
    }
}

/// The outcome of one round of a `WorkLoop`: the work that the round claimed, and when the next round is due.
struct Round<Work: Sendable>: Sendable {
    var work: [Work] = []
    /// Returns when the next round is due if the loop is not woken before; `nil`: no due time is known. The
    /// claimed work begins first, so no message waits for this answer.
    let due: @Sendable () async throws -> Date?

    static func idle(until due: Date? = nil) -> Round { Round { due } }

    /// The claimed work begins now. Another round follows at once, because more work may be due. If `work` is empty,
    /// the next round is at `due`.
    static func claimed(_ work: [Work], due: () async throws -> Date?) async rethrows -> Round {
        work.isEmpty ? .idle(until: try await due()) : Round(work: work) { .distantPast }
    }
}

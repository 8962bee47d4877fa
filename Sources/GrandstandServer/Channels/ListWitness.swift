internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// Reads Apple's list before a creation, unless the list was read recently. If the creation gets no answer, only a
/// channel that was not in the list before can be the new channel. One list serves all creations of an app for half a
/// minute.
struct ListWitness: Sendable {
    let gateway: any APNsGateway
    let reconciliations: ReconciliationStore
    let now: @Sendable () -> Date
    let logger: Logger
    let memory: Memory

    /// Seconds for which a list is used for more creations. When a list is older than `CreationMatch.witnessAge`, it
    /// proves nothing, so this limit is half of that age.
    private static let freshness: TimeInterval = CreationMatch.witnessAge / 2

    /// Seconds to wait after a failed reading of the list.
    private static let rest: TimeInterval = 5

    /// Makes sure that there is a recent list for the creation. If the list cannot be read, the creation is made
    /// anyway, because an event without a channel is worse than a channel that people must check.
    ///
    /// - Returns: whether the list may be newer than the list that the task contains. In this case, the call to Apple
    ///   begins later than the time that was recorded with the lease, so the new start of the call must be recorded
    ///   (`ChannelStore.beginCall`).
    func see(_ task: ChannelTask) async -> Bool {
        let app = task.address.app
        let latest = [task.listAskedAt, memory.askedAt(app)].compactMap { $0 }.max()
        if let latest, now().timeIntervalSince(latest) < Self.freshness {
            return latest > task.listAskedAt ?? .distantPast
        }
        if let failed = memory.failedAt(app), now().timeIntervalSince(failed) < Self.rest { return false }
        await memory.reading(of: app) { await read(task.address) }.value
        return true
    }

    private func read(_ address: APNsAddress) async {
        let askedAt = now()
        guard case .accepted(let listing, _) = await gateway.listChannels(at: address) else {
            return memory.note(failure: now(), address.app)
        }
        do {
            try await reconciliations.witness(listing, askedAt: askedAt, seenAt: now(), address.app)
            memory.note(list: askedAt, address.app)
        } catch {
            logger.warning(
                "APNs' list could not be stored; if the next creation gets no answer, check the unmanaged channels",
                metadata: ["app": "\(address.bundleID)", "error": "\(error)"])
        }
    }

    /// The readings of the list by this process. A task contains the time of the last reading before its lease, so
    /// later readings are kept here.
    final class Memory: Sendable {
        private struct Times {
            /// When the last stored list was requested.
            var list: Date?
            var failure: Date?
            /// The reading in progress. Other callers wait for it.
            var reading: Task<Void, Never>?
        }

        private let times = Mutex<[AppEnvironment: Times]>([:])

        func askedAt(_ app: AppEnvironment) -> Date? { times.withLock { $0[app]?.list } }

        func failedAt(_ app: AppEnvironment) -> Date? { times.withLock { $0[app]?.failure } }

        /// The reading in progress; if there is none, a new one with `body`.
        func reading(of app: AppEnvironment, _ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
            times.withLock { times in
                if let reading = times[app]?.reading { return reading }
                let reading = Task {
                    await body()
                    self.times.withLock { $0[app]?.reading = nil }
                }
                times[app, default: Times()].reading = reading
                return reading
            }
        }

        func note(list askedAt: Date, _ app: AppEnvironment) {
            times.withLock { times in
                times[app, default: Times()].list = askedAt
                times[app, default: Times()].failure = nil
            }
        }

        func note(failure: Date, _ app: AppEnvironment) {
            times.withLock { $0[app, default: Times()].failure = failure }
        }
    }
}

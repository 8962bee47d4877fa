internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// The readings of Apple's lists by this process. A task contains the time of the last reading before its lease, so
/// later readings are kept here.
final class ListWitness: Sendable {
    fileprivate struct Times {
        /// When the last stored list was requested.
        var list: Date?
        var failure: Date?
        /// The reading in progress. Other callers wait for it.
        var reading: Task<Void, Never>?
    }

    fileprivate let times = Mutex<[AppEnvironment: Times]>([:])
}

/// Reads Apple's list before a creation, unless the list was read recently. If the creation gets no answer, only a
/// channel that was not in the list before can be the new channel. One list serves all creations of an app for half a
/// minute.
extension ChannelCalls {
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
    func readListIfNeeded(_ task: ChannelTask) async -> Bool {
        let app = task.address.app
        let times = witness.times.withLock { $0[app] ?? .init() }
        let latest = [task.listAskedAt, times.list].compactMap { $0 }.max()
        if let latest, now().timeIntervalSince(latest) < Self.freshness {
            return latest > task.listAskedAt ?? .distantPast
        }
        if let failed = times.failure, now().timeIntervalSince(failed) < Self.rest { return false }
        await reading(of: task.address).value
        return true
    }

    /// The reading in progress; if there is none, a new one.
    private func reading(of address: APNsAddress) -> Task<Void, Never> {
        witness.times.withLock { times in
            if let reading = times[address.app]?.reading { return reading }
            let reading = Task { await read(address) }
            times[address.app, default: .init()].reading = reading
            return reading
        }
    }

    private func read(_ address: APNsAddress) async {
        let askedAt = now()
        var (list, failure): (Date?, Date?) = (nil, nil)
        if case .accepted(let listing, _) = await gateway.listChannels(at: address) {
            do {
                try await channels.witness(listing, askedAt: askedAt, seenAt: now(), address.app)
                list = askedAt
            } catch {
                logger.warning(
                    "APNs' list could not be stored; if the next creation gets no answer, check the unmanaged channels",
                    metadata: ["app": "\(address.bundleID)", "error": "\(error)"])
            }
        } else {
            failure = now()
        }
        witness.times.withLock { [list, failure] times in
            times[address.app] = .init(list: list ?? times[address.app]?.list, failure: failure)
        }
    }
}

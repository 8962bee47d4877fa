internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Logging
internal import Synchronization

/// Calls to Apple about channels. Each call records its result. Its loops and reconciliations make calls about
/// leased channels; `Channel+routes` has what operators ask and wait for.
struct ChannelCalls: Sendable {
    let gateway: any APNsGateway
    let channels: ChannelStore
    /// When the lease of its channel ends, another caller may take over the channel. A call extends the lease.
    let worker: Worker
    let listReadings = ListReadings()

    /// Asks Apple to create the channel of `task`.
    ///
    /// - Parameter retries: `true`: the server retries after a refusal. `false`: the caller gets the refusal.
    /// - Returns: the channel after the call, and Apple's answer.
    func create(
        _ task: ChannelTask, retries: Bool, by actor: AuditActor
    ) async throws -> (Channel, APNsAnswer<String>) {
        let keeper = keepLease(task)
        defer { keeper.cancel() }
        if await readListIfNeeded(task), try await !channels.beginCall(of: task, now: now()) {
            // The lease has ended, and another caller now makes the creation. Apple is not asked here.
            return (task.channel, .withheld("this server's lease of the channel ended before APNs was asked"))
        }
        let answer = await gateway.createChannel(task.channel.storagePolicy, at: task.address)
        let outcome = ChannelOutcome(
            creation: answer, retries: retries, attempts: task.channel.attempts, now: now())
        return (try await record(outcome, answer, accepted: 201, of: task, by: actor), answer)
    }

    /// Asks Apple to delete the channel.
    func delete(_ task: ChannelTask, by actor: AuditActor) async throws -> (Channel, APNsAnswer<Void>) {
        // The table's constraint says that a channel in `deleting` has an ID.
        let channelID = task.channel.channelID ?? ""
        let keeper = keepLease(task)
        defer { keeper.cancel() }
        let answer = await gateway.deleteChannel(channelID, at: task.address)
        // A 404 alone may also come from a wrong address, so Apple's list must not have the channel either.
        var isListed = true
        if answer.refusal?.isUnknownPath == true,
            case .accepted(let listing, _) = await gateway.listChannels(at: task.address)
        {
            isListed = listing.channelIDs.contains(channelID)
        }
        let outcome = ChannelOutcome(
            deletion: answer, isListed: isListed, attempts: task.channel.attempts, now: now())
        return (try await record(outcome, answer, accepted: 204, of: task, by: actor), answer)
    }

    var leasedUntil: Date { worker.leasedUntil }
    var logger: Logger { worker.logger }
    func now() -> Date { worker.now() }

    /// Extends the task's lease until its calls end.
    private func keepLease(_ task: ChannelTask) -> Task<Void, Never> {
        worker.keepLease { try await channels.extendLease(of: task, until: leasedUntil) }
    }

    /// Records the outcome of a call. If the database is away and the server itself made the call, this waits for the
    /// database. An operator who waits for the answer gets an error instead, and the server later learns the result
    /// from Apple's list.
    private func record<Value>(
        _ outcome: ChannelOutcome, _ answer: APNsAnswer<Value>, accepted status: Int, of task: ChannelTask,
        by actor: AuditActor
    ) async throws -> Channel {
        let what = status == 201 ? "creation" : "deletion"
        log("\(what) of the channel \(task.channel.id.text)", answer, task.address)
        return try await insisting(until: { actor != .server || Task.isCancelled }) {
            try await channels.record(
                outcome, Contract.AuditAnswer(answer, accepted: status), of: task, by: actor, now: now())
        }
    }

    /// Logs the answer to a call. One log line of the key's reports all its refusals.
    func log(_ what: String, _ answer: APNsAnswer<some Sendable>, _ address: APNsAddress) {
        let said = Contract.AuditAnswer(answer, accepted: 200)
        let isOfKey = answer.refusal?.isOfRefusedKey ?? false
        logger.log(
            level: said.reason == nil ? .info : isOfKey ? .debug : .warning, "\(what): \(said.reason ?? "accepted")",
            metadata: ["app": "\(address.bundleID)", "environment": "\(address.environment.rawValue)"])
    }
}

// The loops that create the channels that events need, and delete the channels that no event needs. Slow calls to Apple
// never block the alignment.
extension ChannelCalls {
    /// Makes due calls to Apple. The rest between claims lets several calls that end at about the same time cause only
    /// one claim.
    func callLoop() -> WorkLoop<ChannelTask> {
        WorkLoop(
            .init(slots: 32, minPause: .milliseconds(5), pollInterval: .seconds(5)),
            failure: "channels could not be claimed", worker,
            claim: { limit, _ in
                let tasks = try await channels.claimDue(now: now(), leasedUntil: leasedUntil, limit: limit)
                return try await .claimed(tasks) { try await channels.nextDue(now: now()) }
            }, perform: perform)
    }

    /// Aligns the channels with the events. With 10,000 events an alignment takes 150 ms. Without its rests, alignments
    /// used a whole processor core, and the calls that declared the events needed this core.
    ///
    /// - Parameters:
    ///   - tenure: how long events keep their channels.
    ///   - calling: makes the calls that are due now. Each recorded result signals `.channels`, which wakes this loop.
    func alignLoop(_ tenure: ChannelTenure, waking calling: WorkLoop<ChannelTask>) -> WorkLoop<Never> {
        WorkLoop(
            .init(minPause: .milliseconds(250), pollInterval: .seconds(5), topic: .channels),
            failure: "channels could not be brought in line with the events", worker
        ) { _, _ in
            // If alignment failed, calls from earlier alignments are still due.
            defer { calling.wake() }
            _ = try await channels.align(now: now(), tenure: tenure)
            let next = try await channels.nextDue(now: now())
            return .idle(until: next.flatMap { $0 > now() ? $0 : nil })
        }
    }

    @Sendable private func perform(_ task: ChannelTask) async -> WorkLoop<ChannelTask>.Settling? {
        do {
            if task.channel.state == .creating {
                _ = try await create(task, retries: true, by: .server)
            } else {
                _ = try await delete(task, by: .server)
            }
        } catch {
            // The missing record is repaired later. A deletion is repeated in another round after the lease has ended.
            // A creation is found in Apple's list.
            logger.failed("a channel's outcome was not recorded", error, ["channel": "\(task.channel.id.text)"])
        }
        return nil
    }
}

/// The readings of Apple's lists by this process. A task contains the time of the last reading before its lease, so
/// later readings are kept here.
final class ListReadings: Sendable {
    fileprivate struct LastReading {
        /// When the last stored list was requested.
        var list: Date?
        var failedAt: Date?
        /// The reading in progress. Other callers wait for it.
        var reading: Task<Void, Never>?
    }

    fileprivate let times = Mutex<[AppEnvironment: LastReading]>([:])
}

/// Reads Apple's list before a creation, unless the list was read recently. If the creation gets no answer, only a
/// channel that was not in the list before can be the new channel. One list serves all creations of an app for half a
/// minute.
extension ChannelCalls {
    /// Seconds for which a list is used for more creations. When a list is older than `CreationMatch.longestListAge`,
    /// it proves nothing, so this limit is half of that age.
    private static let listMaxAge: TimeInterval = CreationMatch.longestListAge / 2

    /// Seconds to wait after a failed reading of the list.
    private static let listRest: TimeInterval = 5

    /// Makes sure that there is a recent list for the creation. If the list cannot be read, the creation is made
    /// anyway, because an event without a channel is worse than a channel that people must check.
    ///
    /// - Returns: whether the list may be newer than the list that the task contains. In this case, the call to Apple
    ///   begins later than the time that was recorded with the lease, so the new start of the call must be recorded
    ///   (`ChannelStore.beginCall`).
    func readListIfNeeded(_ task: ChannelTask) async -> Bool {
        let app = task.address.app
        let times = listReadings.times.withLock { $0[app] ?? .init() }
        let latest = [task.listAskedAt, times.list].compactMap { $0 }.max()
        if let latest, now().timeIntervalSince(latest) < Self.listMaxAge {
            return latest > task.listAskedAt ?? .distantPast
        }
        if let failed = times.failedAt, now().timeIntervalSince(failed) < Self.listRest { return false }
        await reading(of: task.address).value
        return true
    }

    /// The reading in progress; if there is none, a new one.
    private func reading(of address: APNsAddress) -> Task<Void, Never> {
        listReadings.times.withLock { times in
            if let reading = times[address.app]?.reading { return reading }
            let reading = Task { await readList(address) }
            times[address.app, default: .init()].reading = reading
            return reading
        }
    }

    private func readList(_ address: APNsAddress) async {
        let askedAt = now()
        var (list, failure): (Date?, Date?) = (nil, nil)
        if case .accepted(let listing, _) = await gateway.listChannels(at: address) {
            do {
                try await channels.recordListing(listing, askedAt: askedAt, seenAt: now(), address.app)
                list = askedAt
            } catch {
                logger.warning(
                    "APNs' list could not be stored; if the next creation gets no answer, check the unmanaged channels",
                    metadata: ["app": "\(address.bundleID)", "error": "\(error)"])
            }
        } else {
            failure = now()
        }
        listReadings.times.withLock { [list, failure] times in
            times[address.app] = .init(list: list ?? times[address.app]?.list, failedAt: failure)
        }
    }
}

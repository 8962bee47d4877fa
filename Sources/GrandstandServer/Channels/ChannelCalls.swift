internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Logging

/// Calls to Apple about channels. Each call records its result. Its loops and reconciliations make calls about
/// leased channels; `Channel+routes` has what operators ask and wait for.
struct ChannelCalls: Sendable {
    let gateway: any APNsGateway
    let channels: ChannelStore
    /// Seconds after which another caller may take over a channel whose caller died. The lease is extended during a
    /// call.
    let lease: TimeInterval
    let now: @Sendable () -> Date
    let logger: Logger
    var counting: Counting = { _ in }
    let witness = ListWitness()

    /// Seconds to wait after a creation without an answer. If Apple's list does not have the channel after this wait,
    /// we trust the list.
    private static let settlePause: TimeInterval = 2

    /// Asks Apple to create the channel of `task`. If Apple has no free place, a channel that no device needs is
    /// deleted, and Apple is asked once more.
    ///
    /// - Parameter retries: `true`: the server retries after a refusal. `false`: the caller gets the refusal.
    /// - Returns: the channel after the call, and Apple's answer.
    func create(
        _ task: ChannelTask, retries: Bool, by actor: AuditActor
    ) async throws -> (Channel, APNsAnswer<String>) {
        let keeper = keep(task)
        defer { keeper.cancel() }
        if await readListIfNeeded(task), try await !channels.beginCall(of: task, now: now()) {
            // The lease has ended, and another caller now makes the creation. Apple is not asked here.
            return (task.channel, .withheld("this server's lease of the channel ended before APNs was asked"))
        }
        var answer = await gateway.createChannel(task.channel.storagePolicy, at: task.address)
        if case .refused(let refusal) = answer, refusal.meaning == .quota {
            switch try await reclaim(task.address.app, for: task.channel.id, by: actor) {
            case true?: answer = await gateway.createChannel(task.channel.storagePolicy, at: task.address)
            case false?: break
            // The limit is reached, but this ledger has no channel to delete. So Apple has channels that are not in
            // this ledger, and a reconciliation finds them. If the channel was refused for this reason before, the
            // reconciliation was already requested.
            case nil where task.channel.reason == refusal.reason.rawValue: break
            case nil: try await channels.requestReconciliation(task.address.app, now: now())
            }
        }
        let outcome: ChannelOutcome =
            switch answer {
            case .accepted(let channelID, _): .created(channelID: channelID)
            case .refused(let refusal) where retries:
                .notCreated(
                    state: refusal.isTemporary ? .creating : .failed, nextAttemptAt: next(task, after: refusal))
            // Apple never received the call.
            case .unsent where retries, .withheld where retries:
                .notCreated(state: .creating, nextAttemptAt: next(task))
            case .refused, .unsent, .withheld: .notCreated(state: .deleted, nextAttemptAt: nil)
            case .unanswered: .unanswered(settleableAt: now().addingTimeInterval(Self.settlePause))
            }
        return (try await record(outcome, answer, accepted: 201, of: task, by: actor), answer)
    }

    /// Asks Apple to delete the channel; a channel that Apple does not know counts as deleted (docs/internals/apns.md
    /// C3).
    func delete(_ task: ChannelTask, by actor: AuditActor) async throws -> (Channel, APNsAnswer<Void>) {
        guard let channelID = task.channel.channelID else {
            throw Problem(
                .internalError,
                "The channel \(task.channel.id) cannot be deleted at Apple: it has no channel ID from Apple.")
        }
        let keeper = keep(task)
        defer { keeper.cancel() }
        let answer = await gateway.deleteChannel(channelID, at: task.address)
        let isGone = await meansGone(answer, channelID, task.address)
        let outcome: ChannelOutcome = isGone ? .deleted : .notDeleted(nextAttemptAt: next(task, after: answer.refusal))
        return (try await record(outcome, answer, accepted: 204, of: task, by: actor), answer)
    }

    var leasedUntil: Date { now().addingTimeInterval(lease) }

    /// Extends the task's lease until its calls end.
    private func keep(_ task: ChannelTask) -> Task<Void, Never> {
        keepLease(of: lease, logger) { try await channels.extendLease(of: task, until: leasedUntil) }
    }

    /// Records the outcome of a call. If the database is away and the server itself made the call, this waits for the
    /// database. An operator who waits for the answer gets an error instead, and the server later learns the result
    /// from Apple's list.
    private func record<Value>(
        _ outcome: ChannelOutcome, _ answer: APNsAnswer<Value>, accepted status: Int, of task: ChannelTask,
        by actor: AuditActor
    ) async throws -> Channel {
        log(
            status == 201 ? "channel creation" : "channel deletion", answer, task.address,
            ["channel": "\(task.channel.id.words)"])
        let outages = OutageLog("the result of a channel's call could not be recorded; trying again", logger)
        return try await insisting(until: { actor != .server || Task.isCancelled }, onFailure: outages.failed) {
            try await channels.record(
                outcome, Contract.AuditAnswer(answer, accepted: status), of: task, by: actor, now: now())
        }
    }

    /// Whether the answer to a deletion says that Apple does not have the channel any more. A 404 alone may also come
    /// from a wrong address. So after a 404, this method reads Apple's list to check that the channel is not in it.
    private func meansGone(_ answer: APNsAnswer<Void>, _ channelID: String, _ address: APNsAddress) async -> Bool {
        guard let refusal = answer.refusal else { return if case .accepted = answer { true } else { false } }
        if refusal.reason == .channelNotRegistered || refusal.reason == .badChannelId { return true }
        guard refusal.status == 404, refusal.reason == .badPath,
            case .accepted(let listing, _) = await gateway.listChannels(at: address)
        else { return false }
        return !listing.channelIDs.contains(channelID)
    }

    /// Deletes a channel that no device needs but that is still kept, if the creation may take its place
    /// (`ChannelStore.reclaim`).
    ///
    /// - Returns: whether Apple deleted it; otherwise the server keeps trying. `nil`: no channel can be deleted.
    func reclaim(_ app: AppEnvironment, for creation: UUID? = nil, by actor: AuditActor) async throws -> Bool? {
        let spare = try await channels.reclaim(app, for: creation, now: now(), leasedUntil: leasedUntil)
        guard let spare = spare.first else { return nil }
        return try await delete(spare, by: actor).0.state == .deleted
    }

    private func next(_ task: ChannelTask, after refusal: APNsRefusal? = nil) -> Date {
        let attempts = task.channel.attempts
        let (policy, after): (RetryPolicy, Int) =
            switch refusal?.meaning {
            case .configuration where refusal?.reason == .broadcastFeatureNotEnabled: (.capability, attempts)
            // Only people can remove the cause of such a refusal, so the server retries slowly.
            case .quota: (.places, 1)
            case .configuration, .badRequest, .channelGone: (.channels, max(attempts, 10))
            case .credentials where refusal?.isOfRefusedKey == true: (.channels, 1)
            case .credentials, .throttled, .unavailable, nil: (.channels, attempts)
            }
        return policy.nextAttempt(
            after: after, now: now(), retryAfter: refusal?.retryAfter, jitter: .random(in: 0..<1))
    }

    func log<Value>(
        _ what: String, _ answer: APNsAnswer<Value>, _ address: APNsAddress, _ metadata: Logger.Metadata = [:]
    ) {
        let (level, outcome, found): (Logger.Level, String, Logger.Metadata) =
            switch answer {
            case .accepted: (.info, "accepted", [:])
            case .refused(let refusal):
                (
                    refusal.isOfRefusedKey ? .debug : .warning, "refused",
                    ["reason": "\(refusal.reason)", "status": "\(refusal.status)"]
                )
            case .unanswered(let reason), .unsent(let reason), .withheld(let reason):
                (.warning, "not answered", ["reason": "\(reason)"])
            }
        let app: Logger.Metadata = ["app": "\(address.bundleID)", "environment": "\(address.environment.rawValue)"]
        logger.log(
            level: level, "\(what) \(outcome)", metadata: metadata.merging(found) { $1 }.merging(app) { $1 })
    }
}

// The loops that create the channels that events need, and delete the channels that no event needs. Slow calls to Apple
// never block the alignment.
extension ChannelCalls {
    /// Makes due calls to Apple. The rest between claims lets several calls that end at about the same time cause only
    /// one claim.
    func calling(mayClaim: @escaping @Sendable () -> Bool) -> WorkLoop<ChannelTask> {
        WorkLoop(
            .init(places: 32, rest: .milliseconds(5), pollInterval: .seconds(5)),
            failure: "channels could not be claimed", logger: logger, now: now, mayClaim: mayClaim,
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
    func aligning(_ tenure: ChannelTenure, waking calling: WorkLoop<ChannelTask>) -> WorkLoop<Never> {
        WorkLoop(
            .init(rest: .milliseconds(50), restPerRound: 4, pollInterval: .seconds(5)),
            failure: "channels could not be brought in line with the events", logger: logger, now: now
        ) { _, _ in
            // If alignment failed, calls from earlier alignments are still due.
            defer { calling.ring() }
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
            logger.failed(
                "a channel's outcome was not recorded", error, ["channel": "\(task.channel.id.uuidString.lowercased())"]
            )
        }
        return nil
    }
}

extension APNsRefusal {
    /// Whether the same request may soon succeed. If it may, the creation stays pending.
    fileprivate var isTemporary: Bool { meaning == .throttled || meaning == .unavailable }
}

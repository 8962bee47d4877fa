internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import GrandstandContract
package import Logging

/// Makes one call to Apple about one leased channel, and records the result. The Provisioner, reconciliations and
/// callers that wait for the answer use this type.
package struct ChannelCalls: Sendable {
    private let management: ManagementCalls
    private let channels: ChannelStore
    private let reconciliations: ReconciliationStore
    /// Seconds after which another caller may take over a channel whose caller died. The lease is extended during a
    /// call.
    private let lease: TimeInterval
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let witnesses: ListWitness

    /// Seconds to wait after a creation without an answer. If Apple's list does not have the channel after this wait,
    /// we trust the list.
    private static let settlePause: TimeInterval = 2

    package init(
        management: ManagementCalls, channels: ChannelStore, reconciliations: ReconciliationStore,
        lease: TimeInterval, now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.management = management
        self.channels = channels
        self.reconciliations = reconciliations
        self.lease = lease
        self.now = now
        self.logger = logger
        witnesses = ListWitness(management: management, reconciliations: reconciliations, now: now, logger: logger)
    }

    /// Asks Apple to create the channel of `task`. If Apple has no free place, a channel that no device needs is
    /// deleted, and Apple is asked once more.
    ///
    /// - Parameter retries: `true`: the server retries after a refusal. `false`: the caller gets the refusal.
    /// - Returns: the channel after the call, and Apple's answer.
    package func create(
        _ task: ChannelTask, retries: Bool, by actor: AuditActor
    ) async throws -> (Channel, APNsAnswer<String>) {
        let keeper = keep(task)
        defer { keeper.cancel() }
        if await witnesses.see(task), try await !channels.beginCall(of: task, now: now()) {
            // The lease has ended, and another caller now makes the creation. Apple is not asked here.
            return (task.channel, .withheld("this server's lease of the channel ended before APNs was asked"))
        }
        var answer = await management.create(task.channel.storagePolicy, at: task.address)
        if case .refused(let refusal) = answer, refusal.meaning == .quota {
            switch try await reclaim(task.address.app, for: task.channel.id, by: actor) {
            case .deleted: answer = await management.create(task.channel.storagePolicy, at: task.address)
            case .kept: break
            // The limit is reached, but this ledger has no channel to delete. So Apple has channels that are not in
            // this ledger, and a reconciliation finds them. If the channel was refused for this reason before, the
            // reconciliation was already requested.
            case .none where task.channel.reason == refusal.reason.rawValue: break
            case .none: try await reconciliations.request(task.address.app, now: now())
            }
        }
        let change: ChannelOutcome.Change =
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
        log("channel creation", task, answer)
        let outcome = ChannelOutcome(change, Contract.AuditAnswer(answer, accepted: 201))
        return (try await record(outcome, of: task, by: actor), answer)
    }

    /// Asks Apple to delete the channel; a channel that Apple does not know counts as deleted (docs/internals/apns.md
    /// C3).
    package func delete(_ task: ChannelTask, by actor: AuditActor) async throws -> (Channel, APNsAnswer<Void>) {
        guard let channelID = task.channel.channelID else {
            throw Problem(
                .internalError,
                "The channel \(task.channel.id) cannot be deleted at Apple: it has no channel ID from Apple.")
        }
        let keeper = keep(task)
        defer { keeper.cancel() }
        let answer = await management.delete(channelID, at: task.address)
        let change: ChannelOutcome.Change =
            switch answer {
            case .accepted: .deleted
            case .refused(let refusal) where await meansGone(refusal, channelID, task.address): .deleted
            case .refused(let refusal): .notDeleted(nextAttemptAt: next(task, after: refusal))
            case .unanswered, .unsent, .withheld: .notDeleted(nextAttemptAt: next(task))
            }
        log("channel deletion", task, answer)
        let outcome = ChannelOutcome(change, Contract.AuditAnswer(answer, accepted: 204))
        return (try await record(outcome, of: task, by: actor), answer)
    }

    /// Extends the task's lease until its calls end.
    private func keep(_ task: ChannelTask) -> Task<Void, Never> {
        keepLease(of: lease, logger) {
            try await channels.extendLease(of: task, until: now().addingTimeInterval(lease))
        }
    }

    /// Records the outcome of a call. If the database is away and the server itself made the call, this waits for the
    /// database. An operator who waits for the answer gets an error instead, and the server later learns the result
    /// from Apple's list.
    private func record(_ outcome: ChannelOutcome, of task: ChannelTask, by actor: AuditActor) async throws -> Channel {
        guard actor == .server else { return try await channels.record(outcome, of: task, by: actor, now: now()) }
        return try await insisting("the result of a channel's call could not be recorded; trying again", logger) {
            try await channels.record(outcome, of: task, by: actor, now: now())
        }
    }

    /// Whether the refusal of a deletion says that there is nothing to delete. A 404 alone may also come from a wrong
    /// address. So after a 404, this method reads Apple's list to check that the channel is not in it.
    private func meansGone(_ refusal: APNsRefusal, _ channelID: String, _ address: APNsAddress) async -> Bool {
        if refusal.reason == .channelNotRegistered || refusal.reason == .badChannelId { return true }
        guard refusal.status == 404, refusal.reason == .badPath,
            case .accepted(let listing, _) = await management.list(at: address)
        else { return false }
        return !listing.channelIDs.contains(channelID)
    }

    /// The result of an attempt to free a place.
    enum Reclaim: Sendable, Hashable {
        case deleted
        /// Apple did not delete the channel. The server keeps trying.
        case kept
        /// No channel can be deleted.
        case none
    }

    /// Deletes a channel that no device needs but that is still kept, if the creation may take its place
    /// (`ChannelStore.reclaim`).
    func reclaim(_ app: AppEnvironment, for creation: UUID? = nil, by actor: AuditActor) async throws -> Reclaim {
        let spare = try await channels.reclaim(
            app, for: creation, now: now(), leasedUntil: now().addingTimeInterval(lease))
        guard let spare = spare.first else { return .none }
        return try await delete(spare, by: actor).0.state == .deleted ? .deleted : .kept
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

    private func log<Value>(_ what: String, _ task: ChannelTask, _ answer: APNsAnswer<Value>) {
        var metadata: Logger.Metadata = [
            "channel": "\(task.channel.id.uuidString.lowercased())", "app": "\(task.address.bundleID)",
            "environment": "\(task.address.environment.rawValue)",
        ]
        switch answer {
        case .accepted:
            logger.info("\(what) accepted", metadata: metadata)
        case .refused(let refusal):
            metadata["reason"] = "\(refusal.reason)"
            metadata["status"] = "\(refusal.status)"
            logger.log(level: refusal.isOfRefusedKey ? .debug : .warning, "\(what) refused", metadata: metadata)
        case .unanswered(let reason), .unsent(let reason), .withheld(let reason):
            metadata["reason"] = "\(reason)"
            logger.warning("\(what) not answered", metadata: metadata)
        }
    }
}

extension APNsRefusal {
    /// Whether the same request may soon succeed. If it may, the creation stays pending.
    fileprivate var isTemporary: Bool { meaning == .throttled || meaning == .unavailable }
}

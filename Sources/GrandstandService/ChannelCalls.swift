internal import APNsWire
package import FoundationEssentials
package import Grandstand
package import Logging

/// One call to Apple about one leased channel, and what the ledger learns of it: used by the Provisioner's loop and by
/// callers who wait for the answer.
package struct ChannelCalls: Sendable {
    private let gateway: any APNsGateway
    private let channels: any ChannelStore
    private let apps: any AppStore
    private let now: @Sendable () -> Date
    private let logger: Logger

    package init(
        gateway: any APNsGateway, channels: any ChannelStore, apps: any AppStore,
        now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.gateway = gateway
        self.channels = channels
        self.apps = apps
        self.now = now
        self.logger = logger
    }

    /// Asks Apple for the channel whose intent `task` is.
    ///
    /// - Returns: the channel as it is then, and Apple's answer.
    package func create(_ task: ChannelTask, retries: Bool) async throws -> (Channel, APNsAnswer<String>) {
        let answer = await createMindingCapitals(task)
        let outcome: ChannelOutcome
        switch answer {
        case .accepted(let channelID, _):
            outcome = .created(channelID: channelID)
        case .refused(let refusal):
            outcome = .notCreated(
                reason: refusal.reason.rawValue, state: retries ? .failed : .deleted,
                nextAttemptAt: retries ? next(task, after: refusal) : nil)
        case .unanswered(let reason):
            // Apple may have made it: the ledger keeps the intent.
            outcome = .notCreated(
                reason: reason, state: retries ? .creating : .failed, nextAttemptAt: retries ? next(task) : nil)
        case .unsent(let reason):
            outcome = .notCreated(
                reason: reason, state: retries ? .creating : .deleted, nextAttemptAt: retries ? next(task) : nil)
        }
        log("channel creation", task, answer)
        return (try await channels.record(outcome, of: task.channel.id, now: now()), answer)
    }

    /// Asks Apple to delete the channel; what Apple does not know counts as deleted (apns-contract C3).
    package func delete(_ task: ChannelTask) async throws -> (Channel, APNsAnswer<Void>) {
        guard let channelID = task.channel.channelID else {
            return (try await channels.record(.deleted, of: task.channel.id, now: now()), .unsent("it never existed"))
        }
        let answer = await gateway.deleteChannel(channelID, at: task.address, requestID: UUID())
        let outcome: ChannelOutcome =
            switch answer {
            case .accepted: .deleted
            case .refused(let refusal) where refusal.meansUnknownOnDeletion: .deleted
            case .refused(let refusal):
                .notDeleted(reason: refusal.reason.rawValue, nextAttemptAt: next(task, after: refusal))
            case .unanswered(let reason), .unsent(let reason):
                .notDeleted(reason: reason, nextAttemptAt: next(task))
            }
        log("channel deletion", task, answer)
        return (try await channels.record(outcome, of: task.channel.id, now: now()), answer)
    }

    /// A `TopicMismatch` on a bundle ID with capitals is tried once with the lowercased path, as one report suggests
    /// (apns-contract section 7); when that works it is remembered.
    private func createMindingCapitals(_ task: ChannelTask) async -> APNsAnswer<String> {
        let requestID = UUID()
        let policy = task.channel.storagePolicy
        let answer = await gateway.createChannel(policy, at: task.address, requestID: requestID)
        guard case .refused(let refusal) = answer, refusal.reason == .topicMismatch,
            task.address.bundleID.hasCapitals, task.address.managementPath == .registered
        else { return answer }
        var lowercased = task.address
        lowercased.managementPath = .lowercased
        let second = await gateway.createChannel(policy, at: lowercased, requestID: UUID())
        if case .refused(let again) = second, again.reason == .topicMismatch { return answer }
        if case .accepted = second {
            let quirk = Quirk(
                environment: task.address.environment, name: .managementPath,
                value: APNsAddress.ManagementPath.lowercased.rawValue, learnedAt: now(),
                evidence: "\(task.address.bundleID): TopicMismatch as registered, accepted in lowercase")
            do {
                try await apps.learn(quirk, of: task.address.bundleID)
            } catch {
                logger.warning("quirk was not kept; it will be learned again", metadata: ["error": "\(error)"])
            }
        }
        return second
    }

    private func next(_ task: ChannelTask, after refusal: APNsRefusal? = nil) -> Date {
        // A refusal that only people can mend is asked again slowly.
        let attempts =
            switch refusal?.meaning {
            case .configuration, .badRequest, .channelGone: max(task.channel.attempts, 10)
            default: task.channel.attempts
            }
        return RetryPolicy.channels.nextAttempt(
            after: attempts, now: now(), retryAfter: refusal?.retryAfter, jitter: .random(in: 0..<1))
    }

    private func log<Value>(_ what: String, _ task: ChannelTask, _ answer: APNsAnswer<Value>) {
        var metadata: Logger.Metadata = [
            "channel": "\(task.channel.id)", "app": "\(task.address.bundleID)",
            "environment": "\(task.address.environment.rawValue)",
        ]
        switch answer {
        case .accepted:
            logger.info("\(what) accepted", metadata: metadata)
        case .refused(let refusal):
            metadata["reason"] = "\(refusal.reason)"
            metadata["status"] = "\(refusal.status)"
            logger.warning("\(what) refused", metadata: metadata)
        case .unanswered(let reason), .unsent(let reason):
            metadata["reason"] = "\(reason)"
            logger.warning("\(what) not answered", metadata: metadata)
        }
    }
}

extension APNsRefusal {
    /// Whether APNs says, on a deletion, that there is nothing to delete.
    var meansUnknownOnDeletion: Bool {
        reason == .channelNotRegistered || reason == .badChannelId || (status == 404 && reason == .badPath)
    }
}

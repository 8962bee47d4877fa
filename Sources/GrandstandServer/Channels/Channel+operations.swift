internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// Operations on one channel that an operator waits for: creation, import, deletion, verification.
extension ChannelCalls {
    /// Creates a channel at Apple, within the quota. If the quota is used up, an unused channel is deleted first, so
    /// that its place becomes free.
    ///
    /// - Throws: `app-not-found`, `quota-exhausted`, `apns-refused`, `apns-unanswered`, `credentials-missing`.
    func create(
        _ draft: Contract.ChannelDraft, for app: AppEnvironment, by actor: AuditActor
    ) async throws -> Channel {
        let task = try await reserve(draft, for: app, by: actor)
        let (channel, answer) = try await create(task, retries: false, by: actor)
        if case .accepted = answer { return channel }
        var problem = try await problem(answer, address: task.address, verb: "create the channel", changes: true)
        if case .unanswered = answer {
            problem.detail +=
                " APNs' list will show it: check channel \(channel.id.uuidString.lowercased()) in a minute."
            problem.members.append(.id(channel.id))
        }
        throw problem
    }

    private func reserve(
        _ draft: Contract.ChannelDraft, for app: AppEnvironment, by actor: AuditActor
    ) async throws -> ChannelTask {
        func reserved() async throws -> ChannelTask {
            try await channels.reserve(draft, for: app, now: now(), leasedUntil: leasedUntil)
        }
        do {
            return try await reserved()
        } catch let problem as Problem where problem.kind == .quotaExhausted {
            guard try await reclaim(app, by: actor) == true else { throw problem }
            return try await reserved()
        }
    }

    /// Adds a channel that another tool created. Its storage policy is read from Apple.
    ///
    /// - Throws: `app-not-found`; `channel-not-found` if Apple does not have the channel for this app in this
    ///   environment; the refusals of `ChannelStore.import`; `apns-refused`, `apns-unanswered`, `credentials-missing`.
    func `import`(
        _ wanted: Contract.ChannelImport, into app: AppEnvironment, within reach: AppReach = .all, by actor: AuditActor
    ) async throws -> Channel {
        guard let address = try await channels.address(of: app) else { throw Problem.noApp(app.bundleID) }
        let answer = await gateway.readChannel(wanted.channelId, at: address)
        switch answer {
        case .accepted(let policy, _):
            return try await channels.import(
                wanted, policy, into: app, within: reach, answer: Contract.AuditAnswer(answer, accepted: 200),
                by: actor,
                now: now())
        case .refused(let refusal) where refusal.saysUnknownChannel:
            throw Problem(
                .channelNotFound,
                "APNs knows no such channel of \(address.bundleID) in \(app.environment.rawValue). Check the ID, the app and "
                    + "the environment: a channel belongs to one app in one environment.", apns: refusal)
        default: throw try await problem(answer, address: address, verb: "read the channel")
        }
    }

    /// Deletes a channel at Apple. If Apple cannot be asked, the channel stays `deleting` and the server keeps trying.
    /// A repetition of the call succeeds once the channel is deleted.
    func delete(_ id: UUID, of app: AppEnvironment, force: Bool, by actor: AuditActor) async throws {
        let begun = try await channels.beginDeletion(id, of: app, force: force, now: now(), leasedUntil: leasedUntil)
        guard let task = begun else { return }
        let (channel, answer) = try await delete(task, by: actor)
        guard channel.state != .deleted else { return }
        throw try await problem(
            answer, address: task.address, verb: "delete the channel (the server keeps trying)", changes: true)
    }

    /// Asks Apple whether it has the channel.
    func verify(_ channel: Channel) async throws -> Contract.Verification {
        guard let channelID = channel.channelID,
            let address = try await channels.address(of: channel.app)
        else { return Contract.Verification(exists: false, at: now()) }
        let answer = await gateway.readChannel(channelID, at: address)
        switch answer {
        case .accepted(let policy, _):
            return Contract.Verification(exists: true, storagePolicy: .init(policy), at: now())
        case .refused(let refusal) where refusal.saysUnknownChannel:
            return Contract.Verification(exists: false, at: now())
        default:
            throw try await problem(answer, address: address, verb: "read the channel")
        }
    }

    /// The error for a caller whose call did not succeed.
    ///
    /// - Parameter changes: whether the call changes something at Apple, so that an unanswered call may have had an
    ///   effect.
    func problem<Value>(
        _ answer: APNsAnswer<Value>, address: APNsAddress, verb: String, changes: Bool = false
    ) async throws -> Problem {
        switch answer {
        case .refused(let refusal) where refusal.meaning == .quota:
            let quota = try await channels.quotas(now: now(), tenure: ChannelTenure()).first {
                $0.bundleID == address.bundleID && $0.environment == address.environment
            }
            return .quotaExhausted(
                address, limit: quota?.limit ?? APNsLimits.channels, used: quota?.used ?? 0,
                reserved: quota?.reserved ?? 0, unmanaged: quota?.unmanaged ?? 0, apns: refusal)
        case .refused(let refusal) where refusal.isHeldBack:
            return Problem(
                .apnsRefused,
                "APNs was not asked to \(verb), because it refuses the key: \(refusal.reason). "
                    + refusal.advice(for: address), apns: refusal, retryAfter: refusal.retryAfter)
        case .refused(let refusal):
            return Problem(
                .apnsRefused, "APNs refused to \(verb): \(refusal.reason). \(refusal.advice(for: address))",
                apns: refusal, retryAfter: refusal.retryAfter.flatMap { $0 > 0 ? $0 : nil })
        case .unanswered(let reason):
            return Problem(
                .apnsUnanswered,
                changes
                    ? "APNs did not answer when asked to \(verb): \(reason). It may have been done."
                    : "APNs gave no answer that can be used when asked to \(verb): \(reason). Try again.")
        case .unsent(let reason), .withheld(let reason):
            let keyFile = gateway.keyFile(
                of: KeyUse(credentials: address.credentials, environment: address.environment)
            ).state
            if keyFile == .missing || keyFile == .unreadable {
                return Problem(
                    .credentialsMissing,
                    "The key file AuthKey_\(address.credentials.keyID).p8 is \(keyFile.rawValue). "
                        + "Put it into the folder that GRANDSTAND_APNS_KEY_DIR names.")
            }
            return Problem(.apnsUnanswered, "APNs could not be asked to \(verb): \(reason).", retryAfter: 5)
        case .accepted:
            return Problem(.internalError, "APNs accepted, but the ledger did not record it.")
        }
    }
}

extension APNsRefusal {
    /// Whether APNs says that it has no channel with this ID.
    var saysUnknownChannel: Bool { meaning == .channelGone || (status == 404 && reason == .badPath) }

    /// What to do about the refusal.
    func advice(for address: APNsAddress) -> String {
        switch reason {
        case .broadcastFeatureNotEnabled:
            "Turn on the Broadcast Capability under Push Notifications of the App ID \(address.bundleID) at "
                + "developer.apple.com; build tools that synchronise capabilities can turn it off again."
        case .topicMismatch where address.bundleID.hasCapitals:
            "Check team, key and environment; for bundle IDs with capitals the lowercased path was tried too."
        default:
            switch meaning {
            case .credentials, .configuration:
                "Check the team \(address.credentials.teamID), the key \(address.credentials.keyID) and that it may be "
                    + "used for \(address.bundleID) in \(address.environment.rawValue)."
            case .throttled, .unavailable: "Try again later."
            case .badRequest, .channelGone, .quota: "Apple's reason says what is wrong."
            }
        }
    }
}

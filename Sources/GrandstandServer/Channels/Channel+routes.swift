internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON

/// `/v1/apps/{bundleId}/{environment}/channels`: channels that people create, delete or import.
extension API {
    var channelRoutes: [Route] {
        let (apps, channels, operations) = (stores.apps, stores.channels, channelOperations)
        let recall: Route.Recall = { id, context in
            try await channels.begun(id, of: try context.app()).map { .json(Contract.Channel($0), status: .created) }
        }
        return [
            Route(.createChannel, recall: recall) { request, context in
                let draft = try Contract.ChannelDraft.read(try await request.json())
                let channel = try await operations.create(draft, for: try context.app(), by: context.actor)
                return .json(Contract.Channel(channel), status: .created)
            },
            Route(.importChannel, recall: recall) { request, context in
                let app = try context.app()
                let wanted = try Contract.ChannelImport.read(try await request.json())
                let channel = try await operations.import(wanted, into: app, within: context.reach, by: context.actor)
                return .json(Contract.Channel(channel), status: .created)
            },
            Route(.listChannels) { _, context in
                let (query, app) = (context.query, try context.app())
                let filter = ChannelFilter(
                    state: try query.choice("state"), storagePolicy: try query.choice("storagePolicy"),
                    eventKey: try query.read("eventKey", EventKey.rule, EventKey.init), channelID: query["channelId"])
                let isManaged = try query["managed"] == nil || query.flag("managed")
                // A channel outside the ledger has neither state nor event, so filters other than `managed` are refused.
                guard isManaged || filter == ChannelFilter() else {
                    throw Problem.invalid("managed=false has no filters.", at: "managed", "Leave the others out.")
                }
                let part = try query.page()
                _ = try await apps.registered(app.bundleID)
                return .json(
                    isManaged
                        ? try await channels.channels(of: app, where: filter, part)
                        : try await channels.unmanagedChannels(of: app, part))
            },
            Route(.getChannel) { _, context in
                let verify = try context.query.flag("verify")
                let id = try context.id(orThrow: .channelNotFound)
                let channel = try await channels.recorded(id, of: try context.app(), among: apps)
                return .json(Contract.Channel(channel, verified: verify ? try await operations.verify(channel) : nil))
            },
            Route(.deleteChannel) { _, context in
                let force = try context.query.flag("force")
                let id = try context.id(orThrow: .channelNotFound)
                let channel = try await channels.recorded(id, of: try context.app(), among: apps)
                try await operations.delete(channel, force: force, by: context.actor)
                return .noContent
            },
        ]
    }
}

/// Operations on one channel that an operator waits for: creation, import, deletion, verification.
extension ChannelCalls {
    /// Creates a channel at Apple, within the quota. If the quota is used up, a channel that is only kept for a while is
    /// deleted first.
    ///
    /// - Throws: `app-not-found`, `quota-exhausted`, `apns-refused`, `apns-unanswered`, `credentials-missing`.
    func create(
        _ draft: Contract.ChannelDraft, for app: AppEnvironment, by actor: AuditActor
    ) async throws -> Channel {
        func reserve() async throws -> ChannelTask? {
            try await channels.reserve(draft, for: app, now: now(), leasedUntil: leasedUntil)
        }
        var reserved = try await reserve()
        if reserved == nil, let spare = try await channels.claimIdle(app, now: now(), leasedUntil: leasedUntil),
            try await delete(spare, by: actor).0.state == .deleted
        {
            reserved = try await reserve()
        }
        guard let task = reserved else { throw try await quotaExhausted(app) }
        let (channel, answer) = try await create(task, retries: false, by: actor)
        if case .accepted = answer { return channel }
        var problem = try await problem(answer, address: task.address, verb: "create the channel")
        if case .unanswered = answer {
            problem.detail += " Check the channel \(channel.id.text) in a minute."
            problem.id = channel.id.text
        }
        throw problem
    }

    /// Adds a channel that another tool created. Its storage policy is read from Apple.
    ///
    /// - Throws: `app-not-found`; `channel-not-found` if Apple does not have the channel for this app in this
    ///   environment; the refusals of `ChannelStore.import`; `apns-refused`, `apns-unanswered`, `credentials-missing`.
    func `import`(
        _ wanted: Contract.ChannelImport, into app: AppEnvironment, within reach: AppReach = .all, by actor: AuditActor
    ) async throws -> Channel {
        guard wanted.variant == nil || wanted.eventKey != nil else {
            throw Problem.invalid("A variant needs the eventKey of its event.", at: "/variant", "Leave it out.")
        }
        guard let address = try await channels.address(of: app) else { throw Problem.noApp(app.bundleID) }
        let (policy, answer) = try await read(wanted.channelId, at: address)
        guard let policy else {
            throw Problem(
                .channelNotFound,
                "APNs knows no such channel of \(address.bundleID) in \(app.environment.rawValue).",
                apns: answer.refusal)
        }
        return try await channels.import(
            wanted, policy, into: app, within: reach, answer: Contract.AuditAnswer(answer, accepted: 200), by: actor,
            now: now())
    }

    /// Deletes a channel at Apple. If Apple cannot be asked, the channel stays `deleting` and the server keeps trying.
    /// A repetition of the call succeeds once the channel is deleted.
    ///
    /// - Throws: `channel-in-use` if a live event needs the channel and `force` is false.
    func delete(_ channel: Channel, force: Bool, by actor: AuditActor) async throws {
        guard channel.state != .deleted else { return }
        let begun = try await channels.beginDeletion(
            channel.id, force: force, now: now(), leasedUntil: leasedUntil)
        guard let task = begun else {
            throw Problem(
                .channelInUse,
                "The channel is still being created, or its event needs it. End or delete the event, or repeat with "
                    + "?force=true once the channel is active; the event then gets a new one.")
        }
        let (deleted, answer) = try await delete(task, by: actor)
        guard deleted.state != .deleted else { return }
        throw try await problem(
            answer, address: task.address, verb: "delete the channel (the server keeps trying)")
    }

    /// Asks Apple whether it has the channel.
    func verify(_ channel: Channel) async throws -> Contract.Verification {
        var policy: StoragePolicy?
        if let channelID = channel.channelID, let address = try await channels.address(of: channel.app) {
            policy = try await read(channelID, at: address).policy
        }
        return Contract.Verification(exists: policy != nil, storagePolicy: policy.map { .init($0) }, at: now())
    }

    /// Asks Apple for a channel's storage policy; `nil`: Apple has no such channel.
    ///
    /// - Throws: why there is no answer that can be used.
    func read(
        _ channelID: String, at address: APNsAddress
    ) async throws -> (policy: StoragePolicy?, answer: APNsAnswer<StoragePolicy>) {
        let answer = await gateway.readChannel(channelID, at: address)
        switch answer {
        case .accepted(let policy, _): return (policy, answer)
        // A 404 alone may also come from a wrong address.
        case .refused(let refusal)
        where refusal.meaning == .targetGone || refusal.isUnknownPath:
            return (nil, answer)
        default: throw try await problem(answer, address: address, verb: "read the channel")
        }
    }

    private func quotaExhausted(_ app: AppEnvironment, apns: APNsRefusal? = nil) async throws -> Problem {
        let quotas = try await channels.quotas(now: now(), tenure: ChannelTenure())
        let quota = quotas.first { $0.bundleID.topic == app.bundleID.topic && $0.environment == app.environment }
        return quota.map { .quotaExhausted($0, apns: apns) } ?? .noApp(app.bundleID)
    }

    /// The error for a caller whose call did not succeed.
    func problem<Value>(_ answer: APNsAnswer<Value>, address: APNsAddress, verb: String) async throws -> Problem {
        switch answer {
        case .refused(let refusal) where refusal.meaning == .quota:
            return try await quotaExhausted(address.app, apns: refusal)
        case .refused(let refusal):
            let did = refusal.isHeldBack ? "refuses the key, so it was not asked" : "refused"
            let lowercased = refusal.reason == .topicMismatch && address.bundleID.hasCapitals
            let tried = lowercased ? " The lowercased bundle ID was tried, too." : ""
            return Problem(
                .apnsRefused,
                "APNs \(did) to \(verb): \(refusal.reason). \(Advice.about(refusal.reason.rawValue) ?? "")\(tried)",
                apns: refusal, retryAfter: refusal.retryAfter.flatMap { $0 > 0 ? $0 : nil })
        case .unanswered(let reason):
            return Problem(
                .apnsUnanswered, "APNs did not answer when asked to \(verb): \(reason). It may have been done.")
        case .unsent(let reason), .withheld(let reason):
            let (key, file) = (address.credentials.keyID, gateway.keyFileState(of: address.credentials))
            return Problem(
                file == .ok ? .apnsUnanswered : .credentialsMissing,
                "APNs could not be asked to \(verb): \(reason). AuthKey_\(key).p8 in GRANDSTAND_APNS_KEY_DIR is "
                    + "\(file.rawValue).", retryAfter: file == .ok ? 5 : nil)
        case .accepted:
            return Problem(.internalError, "APNs accepted, but the ledger did not record it.")
        }
    }
}

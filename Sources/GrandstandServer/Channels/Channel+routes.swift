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
        let recover: Route.Recovery = { id, context in
            try await channels.begun(id, of: try context.app()).map { .json(Contract.Channel($0), status: .created) }
        }
        return [
            Route(.createChannel, recover: recover) { request, context in
                let draft = try Contract.ChannelDraft.read(try await request.json())
                let channel = try await operations.create(draft, for: try context.app(), by: context.actor)
                return .json(Contract.Channel(channel), status: .created)
            },
            Route(.importChannel, recover: recover) { request, context in
                let app = try context.app()
                let wanted = try Contract.ChannelImport(body: try await request.json())
                let channel = try await operations.import(wanted, into: app, within: context.reach, by: context.actor)
                return .json(Contract.Channel(channel), status: .created)
            },
            Route(.listChannels) { _, context in
                let query = context.query
                let filter = ChannelFilter(
                    state: try query.choice("state"), storagePolicy: try query.choice("storagePolicy"),
                    eventKey: try query.read("eventKey", EventKey.rule, EventKey.init), channelID: query["channelId"])
                let isManaged = try query["managed"].map { _ throws(Problem) in try query.flag("managed") } ?? true
                // A channel outside the ledger has neither state nor event, so filters other than `managed` are refused.
                guard isManaged || filter == ChannelFilter() else {
                    throw Problem.invalid(
                        "managed=false can be combined only with limit and cursor.", at: "managed",
                        "Leave the other filters out.")
                }
                let part = try query.page()
                let app = try context.app()
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

extension Contract.ChannelImport {
    /// Reads the body of `POST …/channels/import`: a channel that another tool created.
    ///
    /// - Throws: `invalid-request`.
    init(body: JSONValue) throws(Problem) {
        self = try Self.read(body) { wanted, faults throws(Problem) in
            if wanted.variant != nil, wanted.eventKey == nil {
                faults.add("/variant", "variant is allowed only together with eventKey.")
            }
            return wanted
        }
    }
}

/// Operations on one channel that an operator waits for: creation, import, deletion, verification.
extension ChannelCalls {
    /// Creates a channel at Apple, within the quota. If the quota is used up, an unused channel is deleted first, so
    /// that its place becomes free.
    ///
    /// - Throws: `app-not-found`, `quota-exhausted`, `apns-refused`, `apns-unanswered`, `credentials-missing`.
    func create(
        _ draft: Contract.ChannelDraft, for app: AppEnvironment, by actor: AuditActor
    ) async throws -> Channel {
        func reserve() async throws -> ChannelTask? {
            try await channels.reserve(draft, for: app, now: now(), leasedUntil: leasedUntil)
        }
        var reserved = try await reserve()
        if reserved == nil, try await reclaim(app, by: actor) == true { reserved = try await reserve() }
        guard let task = reserved else { throw try await quotaExhausted(app) }
        let (channel, answer) = try await create(task, retries: false, by: actor)
        if case .accepted = answer { return channel }
        var problem = try await problem(answer, address: task.address, verb: "create the channel", changes: true)
        if case .unanswered = answer {
            problem.detail +=
                " APNs' list will show it: check channel \(channel.id.uuidString.lowercased()) in a minute."
            problem.id = channel.id.words
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
        guard let address = try await channels.address(of: app) else { throw Problem.noApp(app.bundleID) }
        let (policy, answer) = try await read(wanted.channelId, at: address)
        guard let policy else {
            throw Problem(
                .channelNotFound,
                "APNs knows no such channel of \(address.bundleID) in \(app.environment.rawValue). Check the ID, the app and "
                    + "the environment: a channel belongs to one app in one environment.", apns: answer.refusal)
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
        guard channel.channelID != nil else {
            throw Problem(
                .channelInUse, "The channel is still being created. Try again once its state is active.",
                retryAfter: 5)
        }
        let begun = try await channels.beginDeletion(
            channel.id, force: force, now: now(), leasedUntil: leasedUntil)
        guard let task = begun else {
            throw Problem(
                .channelInUse,
                "The event \(channel.eventKey?.rawValue ?? "") still needs this channel. "
                    + "End or delete the event, or repeat with ?force=true; the event then gets a new channel.")
        }
        let (deleted, answer) = try await delete(task, by: actor)
        guard deleted.state != .deleted else { return }
        throw try await problem(
            answer, address: task.address, verb: "delete the channel (the server keeps trying)", changes: true)
    }

    /// Asks Apple whether it has the channel.
    func verify(_ channel: Channel) async throws -> Contract.Verification {
        guard let channelID = channel.channelID,
            let address = try await channels.address(of: channel.app)
        else { return Contract.Verification(exists: false, at: now()) }
        let policy = try await read(channelID, at: address).policy
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
        where refusal.meaning == .channelGone || refusal.isUnknownPath:
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
    ///
    /// - Parameter changes: whether the call changes something at Apple, so that an unanswered call may have had an
    ///   effect.
    func problem<Value>(
        _ answer: APNsAnswer<Value>, address: APNsAddress, verb: String, changes: Bool = false
    ) async throws -> Problem {
        switch answer {
        case .refused(let refusal) where refusal.meaning == .quota:
            return try await quotaExhausted(address.app, apns: refusal)
        case .refused(let refusal):
            let what =
                refusal.isHeldBack
                ? "APNs was not asked to \(verb), because it refuses the key" : "APNs refused to \(verb)"
            return Problem(
                .apnsRefused, "\(what): \(refusal.reason). \(refusal.advice(for: address))", apns: refusal,
                retryAfter: refusal.retryAfter.flatMap { $0 > 0 ? $0 : nil })
        case .unanswered(let reason):
            return Problem(
                .apnsUnanswered,
                changes
                    ? "APNs did not answer when asked to \(verb): \(reason). It may have been done."
                    : "APNs gave no answer that can be used when asked to \(verb): \(reason). Try again.")
        case .unsent(let reason), .withheld(let reason):
            let keyFile = gateway.keyFile(of: address.credentials)
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

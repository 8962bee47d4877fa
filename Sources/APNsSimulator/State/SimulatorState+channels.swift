internal import APNsWire

/// The management of channels (docs/internals/apns.md 1.2).
extension SimulatorState {
    /// Creates a channel. `CreateBody` checks the body. If the app already has the maximum number of channels, a valid
    /// request gets 400 `CannotCreateChannelConfig`.
    mutating func createChannel(
        _ request: SimulatorRequest, in app: AppKey, team: String, now: Double
    ) throws(Refusal) -> SimulatorAnswer {
        if request.bodyIsCut { throw Refusal(.payloadTooLarge) }
        let wanted = try CreateBody(request.body)
        guard apps[app]?.channels.count ?? 0 < channelLimits[app] ?? channelLimit else {
            throw Refusal(.cannotCreateChannelConfig)
        }
        let id = addChannel(wanted.storagePolicy, to: app, now: now)
        if owners[app] == nil { owners[app] = team }
        return SimulatorAnswer(status: 201, headers: [.init(APNsHeader.channelID, id)])
    }

    /// Reads a channel. An ID that was never issued gets 400 `BadChannelId`, a deleted one 400 `ChannelNotRegistered`.
    func read(_ request: SimulatorRequest, in app: AppKey) throws(Refusal) -> SimulatorAnswer {
        let channel = try channel(namedBy: request, in: app)
        let body = #"{"message-storage-policy":\#(channel.storagePolicy.wireValue),"push-type":"\#(PushType.json)"}"#
        return .json(body)
    }

    /// Deletes a channel. An unknown or deleted ID gets 404 `BadPath`, as observed live (docs/internals/apns.md C3).
    mutating func delete(_ request: SimulatorRequest, in app: AppKey) throws(Refusal) -> SimulatorAnswer {
        let id = try channelID(of: request)
        guard ChannelIDMaker.isWellFormed(id) else { throw Refusal(.badChannelId) }
        guard deleteChannel(ChannelKey(app: app, id: id)) else { throw Refusal(.badPath) }
        return SimulatorAnswer(status: 204)
    }

    /// Lists all channels in one answer, because no paging is documented.
    func list(in app: AppKey) -> SimulatorAnswer {
        let ids = (apps[app]?.sorted ?? []).map { "\"\($0.id)\"" }
        return .json(#"{"channels":[\#(ids.joined(separator: ","))]}"#)
    }

    /// Adds a channel regardless of the limit.
    mutating func addChannel(_ policy: StoragePolicy, to app: AppKey, now: Double) -> String {
        let id = channelIDMaker.make(now: now, using: &random)
        apps[app, default: SimulatedApp()].add(id, policy, now: now)
        return id
    }

    /// Deletes all channels of an app at once, as when its registration is lost.
    mutating func deleteAll(of app: AppKey) {
        for id in (apps[app]?.channels ?? [:]).keys { _ = deleteChannel(.init(app: app, id: id)) }
    }

    /// Turns an app's Broadcast capability on or off, as in Apple's developer portal. Turning it off deletes all
    /// channels of the app in both environments; they never come back (docs/internals/apns.md 1.2).
    mutating func setBroadcastCapability(_ isOn: Bool, of bundleID: String) {
        let name = bundleID.lowercased()
        if isOn { return _ = capabilityOff.remove(name) }
        capabilityOff.insert(name)
        for environment in APNsEnvironment.allCases { deleteAll(of: AppKey(name, environment)) }
    }

    /// - Returns: whether the channel existed.
    mutating func deleteChannel(_ channel: ChannelKey) -> Bool {
        guard apps[channel.app]?.delete(channel.id) == true else { return false }
        postponed[channel] = nil
        return true
    }

    /// The channel in the request's `apns-channel-id`.
    ///
    /// - Throws: `MissingChannelId`; `BadChannelId` if the ID is not base64 or was never issued for this app in this
    ///   environment; `ChannelNotRegistered` if it was deleted.
    func channel(namedBy request: SimulatorRequest, in app: AppKey) throws(Refusal) -> SimulatedChannel {
        let id = try channelID(of: request)
        if let channel = apps[app]?.channels[id] { return channel }
        guard ChannelIDMaker.isWellFormed(id) else { throw Refusal(.badChannelId) }
        throw Refusal(apps[app]?.deleted.contains(id) == true ? .channelNotRegistered : .badChannelId)
    }

    private func channelID(of request: SimulatorRequest) throws(Refusal) -> String {
        guard let id = request[header: APNsHeader.channelID], !id.isEmpty else { throw Refusal(.missingChannelId) }
        return id
    }
}

/// Broadcasts (docs/internals/apns.md section 2).
extension SimulatorState {
    /// Processes a broadcast. The checks are in this order: the channel, the headers (`BroadcastHeaders`), the body
    /// (`BroadcastBody`), the buckets.
    ///
    /// The answer 200 contains `apns-unique-id` in both environments (docs/internals/apns.md C11). The answer does not
    /// depend on whether devices listen.
    mutating func broadcast(
        _ request: SimulatorRequest, in app: AppKey, postponing: Bool, now: Double
    ) throws(Refusal) -> SimulatorAnswer {
        let channel = try channel(namedBy: request, in: app)
        let expiration = try BroadcastHeaders.check(request, storagePolicy: channel.storagePolicy)
        try BroadcastBody.check(request.body, isCut: request.bodyIsCut)
        try buckets.take(
            .broadcast, Bucket.Key(app, channel: channel.id, connection: request.connectionID), now: now)

        let uniqueID = RequestID.make(using: &random)
        let message =
            channel.storagePolicy.stores
            ? StoredMessage(body: request.body, expiration: expiration, now: now, uniqueID: uniqueID) : nil
        apps[app]?.addBroadcast(on: channel.id, storing: message)
        publish(request.body, on: ChannelKey(app: app, id: channel.id), postponing: postponing, now: now)
        return SimulatorAnswer(status: 200, headers: [.init(APNsHeader.uniqueID, uniqueID)])
    }

    /// Delivers a message to the online devices that listen, followed by the messages that a fault had postponed.
    private mutating func publish(_ body: [UInt8], on channel: ChannelKey, postponing: Bool, now: Double) {
        guard devices.listens(to: channel) else { return }
        if postponing {
            postponed[channel, default: []].append(body)
            return
        }
        for body in [body] + (postponed.removeValue(forKey: channel) ?? []) {
            devices.broadcast(body, on: channel, now: now)
        }
    }
}

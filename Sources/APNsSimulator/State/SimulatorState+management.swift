internal import APNsWire
internal import FoundationEssentials

/// The operations of docs/internals/apns.md 1.2.
extension SimulatorState {
    /// Create. The body is checked by `CreateBody`; a valid one at the limit is 400 `CannotCreateChannelConfig`.
    mutating func create(
        _ request: SimulatorRequest, in app: AppKey, team: String, now: Date
    ) throws(Refusal) -> SimulatorAnswer {
        if request.bodyIsCut { throw Refusal(.payloadTooLarge) }
        let wanted = try CreateBody(request.body, missingPolicy: quirks.missingPolicy)
        guard apps[app]?.count ?? 0 < limits[app] ?? channelLimit else { throw Refusal(.cannotCreateChannelConfig) }
        let id = addChannel(wanted.storagePolicy, to: app, now: now)
        if owners[app] == nil { owners[app] = team }
        return SimulatorAnswer(status: 201, headers: [.init(APNsHeader.channelID, id)])
    }

    /// Read. Never issued: 400 `BadChannelId`; deleted: 400 `ChannelNotRegistered`.
    func read(_ request: SimulatorRequest, in app: AppKey) throws(Refusal) -> SimulatorAnswer {
        let channel = try channel(namedBy: request, in: app)
        let body = #"{"message-storage-policy":\#(channel.storagePolicy.wireValue),"push-type":"\#(PushType.json)"}"#
        return .json(body)
    }

    /// Delete. An ID that is not there (any more) is 404 `BadPath`, as observed live (docs/internals/apns.md C3).
    mutating func delete(_ request: SimulatorRequest, in app: AppKey) throws(Refusal) -> SimulatorAnswer {
        let id = try channelID(of: request)
        guard ChannelIDs.isWellFormed(id) else { throw Refusal(.badChannelId) }
        guard deleteChannel(ChannelKey(app: app, id: id)) else {
            throw Refusal(quirks.unknownDeletion == .badPath ? .badPath : .channelNotRegistered)
        }
        return SimulatorAnswer(status: 204)
    }

    /// List: all of them at once, as no paging is documented.
    func list(in app: AppKey) -> SimulatorAnswer {
        let ids = (apps[app]?.sorted ?? []).map { "\"\($0.id)\"" }
        return .json(#"{"channels":[\#(ids.joined(separator: ","))]}"#)
    }

    /// Makes a channel, whatever the limit.
    mutating func addChannel(_ policy: StoragePolicy, to app: AppKey, now: Date) -> String {
        let id = channelIDs.make(now: now, using: &random)
        apps[app, default: SimulatedApp()].add(id, policy, now: now)
        revision += 1
        return id
    }

    /// - Returns: whether there was such a channel.
    mutating func deleteChannel(_ channel: ChannelKey) -> Bool {
        guard apps[channel.app]?.delete(channel.id) == true else { return false }
        postponed[channel] = nil
        revision += 1
        return true
    }

    /// The channel a request's `apns-channel-id` names.
    ///
    /// - Throws: `MissingChannelId`; `BadChannelId` for an ID that is not base64 or was never issued for this app in
    ///   this environment; `ChannelNotRegistered` for a deleted one.
    func channel(namedBy request: SimulatorRequest, in app: AppKey) throws(Refusal) -> SimulatedChannel {
        let id = try channelID(of: request)
        if let channel = apps[app]?.channels[id] { return channel }
        guard ChannelIDs.isWellFormed(id) else { throw Refusal(.badChannelId) }
        let wasThere = apps[app]?.wasDeleted(id) == true || quirks.unknownChannel == .channelNotRegistered
        throw Refusal(wasThere ? .channelNotRegistered : .badChannelId)
    }

    private func channelID(of request: SimulatorRequest) throws(Refusal) -> String {
        guard let id = request[header: APNsHeader.channelID], !id.isEmpty else { throw Refusal(.missingChannelId) }
        return id
    }
}

extension SimulatorAnswer {
    fileprivate static func json(_ text: String) -> Self {
        Self(status: 200, headers: [.init(APNsHeader.contentType, "application/json")], body: Array(text.utf8))
    }
}

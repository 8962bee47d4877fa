internal import APNsWire
internal import FoundationEssentials

/// The operations of apns-contract 1.2.
extension SimulatorState {
    /// Create. The body is checked by `CreateBody`; a valid one at the limit is 400 `CannotCreateChannelConfig`.
    mutating func create(
        _ request: SimulatorRequest, in app: AppKey, team: String, now: Date
    ) throws(Refusal) -> SimulatorAnswer {
        if request.bodyIsCut { throw Refusal(.payloadTooLarge) }
        let wanted = try CreateBody(request.body)
        guard apps[app]?.count ?? 0 < channelLimit else { throw Refusal(.cannotCreateChannelConfig) }
        let id = channelIDs.make(now: now, using: &random)
        apps[app, default: SimulatedApp()].add(id, wanted.storagePolicy, now: now)
        if owners[app] == nil { owners[app] = team }
        return SimulatorAnswer(status: 201, headers: [.init(APNsHeader.channelID, id)])
    }

    /// Read. Never issued: 400 `BadChannelId`; deleted: 400 `ChannelNotRegistered`.
    func read(_ request: SimulatorRequest, in app: AppKey) throws(Refusal) -> SimulatorAnswer {
        let channel = try channel(namedBy: request, in: app)
        let body = #"{"message-storage-policy":\#(channel.storagePolicy.wireValue),"push-type":"\#(PushType.json)"}"#
        return .json(body)
    }

    /// Delete. An ID that is not there (any more) is 404 `BadPath`, as observed live (apns-contract C3).
    mutating func delete(_ request: SimulatorRequest, in app: AppKey) throws(Refusal) -> SimulatorAnswer {
        let id = try channelID(of: request)
        guard apps[app]?.delete(id) == true else {
            throw Refusal(ChannelIDs.isWellFormed(id) ? .badPath : .badChannelId)
        }
        return SimulatorAnswer(status: 204)
    }

    /// List: all of them at once, as no paging is documented.
    func list(in app: AppKey) -> SimulatorAnswer {
        let ids = (apps[app]?.sorted ?? []).map { "\"\($0.id)\"" }
        return .json(#"{"channels":[\#(ids.joined(separator: ","))]}"#)
    }

    /// The channel a request's `apns-channel-id` names.
    ///
    /// - Throws: `MissingChannelId`; `BadChannelId` for what is not base64 or was never issued for this app in this
    ///   environment; `ChannelNotRegistered` for a deleted one.
    func channel(namedBy request: SimulatorRequest, in app: AppKey) throws(Refusal) -> SimulatedChannel {
        let id = try channelID(of: request)
        if let channel = apps[app]?.channels[id] { return channel }
        throw Refusal(apps[app]?.wasDeleted(id) == true ? .channelNotRegistered : .badChannelId)
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

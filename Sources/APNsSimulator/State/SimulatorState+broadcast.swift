internal import APNsWire
internal import FoundationEssentials

/// The operation of docs/internals/apns.md section 2.
extension SimulatorState {
    /// Broadcast. Checked in this order: the channel, the headers (`BroadcastHeaders`), the body (`BroadcastBody`), the
    /// buckets.
    ///
    /// 200 carries `apns-unique-id` in both environments (C11), also when no device listens.
    mutating func broadcast(
        _ request: SimulatorRequest, in app: AppKey, postponing: Bool, now: Date
    ) throws(Refusal) -> SimulatorAnswer {
        let channel = try channel(namedBy: request, in: app)
        let headers = try BroadcastHeaders(request, storagePolicy: channel.storagePolicy, quirks: quirks, now: now)
        try BroadcastBody.check(request.body, isCut: request.bodyIsCut, rule: quirks.payload)
        try buckets.take(
            BucketSend(operation: .broadcast, app: app, connection: request.connection, target: channel.id), now: now)

        let uniqueID = RequestID.make(using: &random)
        let message =
            channel.storagePolicy == .mostRecentMessageStored
            ? StoredMessage(body: request.body, expiration: headers.expiration, now: now, uniqueID: uniqueID) : nil
        apps[app]?.published(on: channel.id, storing: message)
        if message != nil { revision += 1 }
        publish(request.body, on: ChannelKey(app: app, id: channel.id), postponing: postponing, now: now)
        let isNamed = request.environment == .development || quirks.productionUniqueID == .on
        return SimulatorAnswer(status: 200, headers: isNamed ? [.init(APNsHeader.uniqueID, uniqueID)] : [])
    }

    /// Brings a message to the devices that listen and are online, and after it those a fault kept back.
    private mutating func publish(_ body: [UInt8], on channel: ChannelKey, postponing: Bool, now: Date) {
        guard devices.listens(to: channel) else { return }
        if postponing {
            postponed[channel, default: []].append(body)
            return
        }
        for body in [body] + (postponed.removeValue(forKey: channel) ?? []) {
            devices.broadcast(body, on: channel, tie: quirks.timestampTie, now: now)
        }
        revision += 1
    }
}

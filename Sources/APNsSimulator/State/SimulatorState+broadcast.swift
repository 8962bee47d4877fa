internal import APNsWire

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
        let expiration = try BroadcastHeaders.expiration(request, storagePolicy: channel.storagePolicy)
        try BroadcastBody.check(request.body, isCut: request.bodyIsCut)
        try buckets.take(
            .broadcast, Bucket.Key(app, channel: channel.id, connection: request.connection), now: now)

        let uniqueID = RequestID.make(using: &random)
        let message =
            channel.storagePolicy.stores
            ? StoredMessage(body: request.body, expiration: expiration, now: now, uniqueID: uniqueID) : nil
        apps[app]?.published(on: channel.id, storing: message)
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

internal import APNsWire
internal import FoundationEssentials

/// The operation of apns-contract section 2.
extension SimulatorState {
    /// Broadcast. Checked in this order: the channel, the headers (`BroadcastHeaders`), the body (`BroadcastBody`).
    ///
    /// 200 carries `apns-unique-id` in both environments (C11), also when nobody listens.
    mutating func broadcast(
        _ request: SimulatorRequest, in app: AppKey, now: Date
    ) throws(Refusal) -> SimulatorAnswer {
        let channel = try channel(namedBy: request, in: app)
        let headers = try BroadcastHeaders(request, storagePolicy: channel.storagePolicy)
        try BroadcastBody.check(request.body, isCut: request.bodyIsCut)

        let uniqueID = RequestID.make(using: &random)
        let message =
            channel.storagePolicy == .mostRecentMessageStored
            ? StoredMessage(body: request.body, expiration: headers.expiration, now: now, uniqueID: uniqueID) : nil
        apps[app]?.published(on: channel.id, storing: message)
        return SimulatorAnswer(status: 200, headers: [.init(APNsHeader.uniqueID, uniqueID)])
    }
}

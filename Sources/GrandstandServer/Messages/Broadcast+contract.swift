internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

extension Contract.Broadcast {
    /// Sets the deliveries, and what follows from them.
    mutating func set(_ deliveries: [Contract.Delivery], isScheduled: Bool, isCancelled: Bool) {
        self.deliveries = deliveries
        state = .init(isScheduled: isScheduled, isCancelled: isCancelled, deliveries: deliveries.map(\.state))
        counts = Dictionary(grouping: deliveries, by: \.state.rawValue).mapValues(\.count)
    }

    /// The ID as the database has it.
    var uuid: UUID {
        guard let uuid = UUID(uuidString: id) else { preconditionFailure("\(id) is not the ID of a broadcast") }
        return uuid
    }
}

extension Contract.Delivery {
    /// The delivery of a message that was accepted just now.
    init(_ message: LaneMessage, _ audience: Audience) {
        self.init(
            kind: message.kind, counts: message.tokens.map { Contract.TokenCounts($0, message.state) },
            bundleId: audience.bundleID.rawValue, environment: .init(audience.environment),
            variant: audience.variant?.rawValue, channelId: message.channelID, state: message.state, attempts: 0,
            priority: message.priority.rawValue, apnsExpiration: message.apnsExpiration,
            apnsRequestId: message.requestID.words)
    }
}

extension Contract.AudiencePreview {
    /// What the audience's lane would get, without the content as the app's template shows it.
    ///
    /// - Parameter replaced: broadcasts that wait and would not be sent.
    init(
        _ message: LaneMessage, _ payload: BroadcastPayload, to audience: Audience, at time: Date,
        replacing replaced: [UUID]
    ) {
        let body = payload.body(timestamp: Int(time.timeIntervalSince1970))
        self.init(
            bundleId: audience.bundleID.rawValue, environment: .init(audience.environment),
            variant: audience.variant?.rawValue, kind: message.kind,
            priority: (message.kind == .tokens ? message.priority.ofDevicePush : message.priority).rawValue,
            apnsExpiration: message.apnsExpiration, bytes: body.count, limit: message.kind.bodyLimit,
            payload: RawJSON(unchecked: body), replaces: replaced.map(\.words))
    }
}

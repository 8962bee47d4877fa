internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// One event: its audiences, its newest broadcasts, and what of them did not get through.
struct EventDetail: ConsolePage {
    var template: TemplateName { .event }
    let title: String
    let refreshSeconds: Int?
    var refresh: Int? { refreshSeconds }
    var liveEvent: EventKey? { EventKey(rawValue: key) }
    let key: String
    let state: String
    let kind: String?
    let startsAt: Moment?
    let endsAt: Moment?
    let channelsOpenAt: Moment?
    let updatedAt: Moment
    let audiences: [AudienceRow]
    let broadcasts: [BroadcastRow]
    let failures: [FailureRow]
    let pager: Pager
    let commands: [Command]

    init(_ event: Event, _ page: Page<Broadcast>, _ visit: Visit) {
        let specification = event.specification
        title = specification.name
        // An older page does not change any more.
        refreshSeconds = event.state.isOver || !visit.isAtStart ? nil : 5
        key = specification.key.rawValue
        state = event.state.rawValue
        kind = specification.kind
        startsAt = specification.startsAt.map { Moment($0) }
        endsAt = specification.endsAt.map { Moment($0) }
        channelsOpenAt = specification.opensAt.map { Moment($0) }
        updatedAt = Moment(event.updatedAt)
        audiences = zip(specification.audiences, event.channels).map { AudienceRow($0, $1) }
        broadcasts = page.items.map(BroadcastRow.init)
        failures = page.items.flatMap { broadcast in
            broadcast.deliveries.compactMap { FailureRow($0, of: broadcast) }
        }
        pager = Pager(visit, nextCursor: page.nextCursor)
        commands = Self.commands(event, page.items)
    }

    /// What its organiser may do; once it is over, take back what was not sent: the end, too.
    private static func commands(_ event: Event, _ broadcasts: [Broadcast]) -> [Command] {
        let key = event.specification.key
        var commands: [Command] =
            event.state.isOver ? [.reopenEvent(key)] : [.sendUpdate(key), .sendEnd(key), .cancelEvent(key)]
        if let waiting = broadcasts.first(where: \.isWithdrawable) {
            commands.append(.withdraw(waiting.id.uuidString.lowercased()))
        }
        return commands
    }
}

/// One audience with its channel.
struct AudienceRow: Sendable {
    let bundleID: String
    let environment: String
    let variant: String
    let storagePolicy: String
    let state: String
    let channelID: String
    let reason: String
    let advice: String?
    let nextAttemptAt: Moment?

    init(_ audience: Audience, _ channel: Audience.ChannelStatus) {
        bundleID = audience.bundleID.rawValue
        environment = audience.environment.rawValue
        variant = audience.variant?.rawValue ?? ""
        storagePolicy = audience.storagePolicy.rawValue
        state = channel.state.rawValue
        channelID = channel.channelID ?? ""
        reason = channel.reason ?? ""
        advice = channel.state == .active ? nil : Advice.channel(reason: channel.reason)
        nextAttemptAt = channel.nextAttemptAt.map { Moment($0) }
    }
}

/// One broadcast.
struct BroadcastRow: Sendable {
    let id: String
    let acceptedAt: Moment
    let kindOfMessage: String
    /// The key that asked for it.
    let by: String
    let state: String
    let sendAt: Moment?
    /// `3 accepted, 1 rejected`
    let counts: String
    let warnings: [String]

    init(_ broadcast: Broadcast) {
        id = broadcast.id.uuidString.lowercased()
        acceptedAt = Moment(broadcast.acceptedAt)
        kindOfMessage = broadcast.event.rawValue
        by = broadcast.by ?? ""
        state = broadcast.state.rawValue
        sendAt = broadcast.sendAt.map { Moment($0) }
        counts = broadcast.counts.map { "\(Wording.number($0.count)) \($0.state.rawValue)" }.joined(separator: ", ")
        warnings = broadcast.warnings
    }
}

/// A delivery that was rejected or expired.
struct FailureRow: Sendable {
    let broadcast: String
    let acceptedAt: Moment
    let bundleID: String
    let environment: String
    let variant: String
    let state: String
    let reason: String
    let advice: String
    let attempts: Int
    let apnsRequestID: String

    /// `nil` for any other delivery.
    init?(_ delivery: Delivery, of broadcast: Broadcast) {
        guard let advice = Advice.delivery(delivery.state, reason: delivery.reason) else { return nil }
        self.broadcast = broadcast.id.uuidString.lowercased()
        acceptedAt = Moment(broadcast.acceptedAt)
        bundleID = delivery.bundleID.rawValue
        environment = delivery.environment.rawValue
        variant = delivery.variant?.rawValue ?? ""
        state = delivery.state.rawValue
        reason = delivery.reason ?? ""
        self.advice = advice
        attempts = delivery.attempts
        apnsRequestID = delivery.apnsRequestID.uuidString.lowercased()
    }
}

extension Broadcast {
    /// Whether nothing of it was sent yet.
    fileprivate var isWithdrawable: Bool {
        state == .scheduled
            || state == .queued
                && deliveries.allSatisfy { $0.timestamp == nil && [.waiting, .queued].contains($0.state) }
    }
}

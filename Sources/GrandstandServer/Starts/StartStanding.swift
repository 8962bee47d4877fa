internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The state of an event's start for one audience: when the start may be sent, and what it waits for. It is computed
/// from the present state of the audience's event, lane and channel. Both senders and reports use it.
struct StartStanding: Decodable {
    let bundleId: BundleID
    let environment: APNsEnvironment
    /// The audience's variant as the column has it: empty for an audience without a variant.
    let variant: String
    let topics: [String]
    /// The declared start, if it includes this audience; `nil`: the audience has no start.
    let start: Contract.StartDraft?
    private let startsAt, endsAt, lastMessageAt: Date?
    private var askedAt: Date?
    private(set) var isStopped: Bool
    let isEventOver: Bool
    /// The defaults of the event's messages and of its start.
    private let defaults: Contract.EventDefaults?
    private let delivery: Contract.AudienceDelivery
    /// Apple's ID of the audience's active channel.
    private let channel: String?
    /// Whether the audience's channel cannot be created, because the app has no channel left in its limit or at Apple.
    private let lacksRoom: Bool
    private let newest: NewestContent?
    private let lastTimestamp: Int

    /// The next step.
    struct Turn {
        /// Nothing can be sent before this time.
        var until = Date.distantPast
        /// Why nothing can be sent; `nil`: there are pushes, or the start's window has not begun.
        var reason: Contract.StartWait?
        /// Those that may be sent now.
        var pushes: [StartPush] = []
    }

    /// Seconds after which a start that waits for its channel or for a content is looked at again.
    static let patience: TimeInterval = 1

    /// The time in which the start is sent.
    var window: StartWindow? {
        start.flatMap {
            StartWindow($0, startsAt: startsAt, endsAt: endsAt, askedAt: askedAt, lastMessageAt: lastMessageAt)
        }
    }

    /// The same if somebody asks for the start by hand at this time.
    func asked(at now: Date) -> StartStanding {
        var standing = self
        (standing.askedAt, standing.isStopped) = (askedAt ?? now, false)
        return standing
    }

    /// Whether no more starts are sent, unless somebody resumes the start, moves its times or reopens the event.
    func isOver(at now: Date) -> Bool { isStopped || isEventOver || window.map { $0.until <= now } ?? false }

    /// The next step; `nil`: no more starts are sent.
    func turn(at now: Date) -> Turn? {
        guard !isOver(at: now), let start, let window else { return nil }
        guard window.from <= now else { return Turn(until: window.from) }
        let later = now.addingTimeInterval(Self.patience)
        let channelID = delivery == .tokens ? nil : channel
        guard delivery == .tokens || channelID != nil else {
            return Turn(until: later, reason: lacksRoom ? .room : .channel)
        }
        guard
            var payload = start.payload(
                newest: newest, filledBy: defaults ?? .init(), at: now, until: window.end(at: now))
        else {
            return Turn(until: later, reason: .content)
        }
        payload.listen(to: channelID)
        // The push's timestamp is lower than the timestamp of every later update. A push with the newest content gets
        // the second before now, or the content's own timestamp if that is higher. A push with the declared content
        // gets two seconds before now. If a token joins a crowd, `CrowdNews` sends it the newest content. Because of
        // the lower timestamp, this content replaces the declared content even in the same second.
        let justNow = now.epoch - 1
        let timestamp = newest == nil ? justNow - 1 : max(lastTimestamp, justNow)
        // If the push is too long, the start waits, because a newer content may be shorter.
        guard payload.size(start.localAlerts.values, timestamp: timestamp) <= APNsLimits.devicePayload else {
            return Turn(until: later, reason: .contentTooLong)
        }
        let push = StartPush(
            variant: variant, payload: payload, alerts: LocaleLookup(start.localAlerts), content: newest?.broadcast,
            timestamp: timestamp, expiration: window.expiration(of: start, at: now), deadline: window.until,
            attributesType: start.attributesType)
        return Turn(pushes: [push])
    }

    // MARK: Reading

    /// The columns of a standing, of events `e`, their starts `s`, app_environments `ae`, audiences `u`, and `joins`.
    static let columns: PostgresQuery = """
        ae.bundle_id as "bundleId", ae.environment, coalesce(u.variant, '') as variant, e.topics,
        case when u.lane is not null then s.declaration end as start, e.starts_at as "startsAt", e.ends_at as "endsAt",
        s.asked_at as "askedAt", \(EventStore.lastMessage) as "lastMessageAt", s.stopped_at is not null as "isStopped",
        e.ended_at is not null or e.cancelled_at is not null or u.fenced_at is not null or u.closed_at is not null
            as "isEventOver",
        e.defaults, coalesce(u.delivery, 'channel') as delivery, c.channel_id as channel,
        coalesce(f.reason in (\(APNsReason.cannotCreateChannelConfig.rawValue), 'quota-exhausted'), false)
            as "lacksRoom",
        b.id as "newest.broadcast", b.content as "newest.contentState", b.stale_date as "newest.staleDate",
        b.relevance_score as "newest.relevanceScore",
        coalesce(greatest(u.last_timestamp, u.tokens_last_timestamp), 0) as "lastTimestamp"
        """

    /// The broadcast `b` that has the audience's newest content, and the channel `c`.
    static let joins: PostgresQuery = """
        left join lateral (
            select channel_id from channels where id = u.channel and state = 'active' offset 0) c on true
        left join lateral (
            select b.*, \(BroadcastRows.contentState("b", for: "u.variant")) as content from broadcasts b
            where b.id = u.newest_broadcast offset 0) b on b.content is not null
        \(LookupStore.refusal)
        """
}

/// The audiences in one app and environment that an event's start is for, in the order of their declaration. Each
/// follower is started on one of those that have a push (`VariantChoice`).
extension [StartStanding] {
    /// The next step, with a push for each audience that is not over; `nil`: no more starts are sent. All audiences wait
    /// for each other, but not for one that lacks room for its channel.
    func turn(at now: Date) -> StartStanding.Turn? {
        let turns = compactMap { $0.turn(at: now) }
        let pushes = turns.flatMap(\.pushes)
        return turns.first { $0.pushes.isEmpty && (pushes.isEmpty || $0.reason != .room) }
            ?? (turns.isEmpty ? nil : .init(pushes: pushes))
    }

    /// - Parameter isLeft: whether a follower may still get a start.
    func state(at now: Date, isLeft: Bool) -> (state: Contract.StartState, waitingFor: Contract.StartWait?) {
        if self[0].isStopped { return (.stopped, nil) }
        guard let turn = turn(at: now) else { return (.done, nil) }
        if turn.pushes.isEmpty, turn.reason == nil { return (.scheduled, nil) }
        guard isLeft else { return (.done, nil) }
        return (turn.reason == nil ? .running : .waiting, turn.reason)
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The state of an event's start for one audience: when the start may be sent, and what it waits for. It is computed
/// from the present state of the audience's event, lane and channel. Both senders and reports use it.
struct StartStanding: Decodable {
    private struct Channel: Decodable {
        /// Apple's ID.
        let id: String
        /// When its row was inserted.
        let madeAt: Date
    }

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
    private let isEventOver: Bool
    /// The defaults of the event's messages and of its start.
    private let defaults: Contract.EventDefaults?
    private let delivery: Contract.AudienceDelivery
    /// The audience's active channel.
    private let channel: Channel?
    /// Whether the audience's channel cannot be created, because the app has no channel left in its limit or at Apple.
    private let lacksRoom: Bool
    private let newest: NewestContent?
    private let lastTimestamp: Int

    /// The next step.
    enum Turn {
        /// Nothing can be sent before this time. If there is no reason, the start's window has not begun.
        case wait(until: Date, Contract.StartWait?)
        /// This push may be sent.
        case send(StartPush)
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
        guard window.from <= now else { return .wait(until: window.from, nil) }
        let later = now.addingTimeInterval(Self.patience)
        var channelID: String?
        switch delivery {
        case .tokens: break
        case .channel, .unknown:
            guard let id = channel?.id else { return .wait(until: later, lacksRoom ? .room : .channel) }
            channelID = id
        }
        guard
            var payload = start.payload(
                newest: newest, filledBy: defaults ?? .init(), at: now, until: window.end(at: now))
        else {
            return .wait(until: later, .content)
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
            return .wait(until: later, .contentTooLong)
        }
        return .send(
            StartPush(
                variant: variant, payload: payload, alerts: LocaleLookup(start.localAlerts), channelID: channelID,
                channelMadeAt: channel?.madeAt, content: newest?.broadcast, timestamp: timestamp,
                expiration: window.expiration(of: start, at: now)))
    }

    // MARK: Reading

    /// The columns of a standing, of events `e`, their starts `s`, app_environments `ae`, audiences `u`, and `joins`.
    static let columns: PostgresQuery = """
        ae.bundle_id as "bundleId", ae.environment, coalesce(u.variant, '') as variant, e.topics,
        case when u.lane is not null then s.declaration end as start, e.starts_at as "startsAt", e.ends_at as "endsAt",
        s.asked_at as "askedAt", \(EventStore.lastMessage) as "lastMessageAt", s.stopped_at is not null as "isStopped",
        e.ended_at is not null or e.cancelled_at is not null or u.fenced_at is not null or u.closed_at is not null
            as "isEventOver",
        e.defaults, coalesce(u.delivery, 'channel') as delivery, c.channel_id as "channel.id",
        c.created_at as "channel.madeAt",
        coalesce(f.reason in (\(APNsReason.cannotCreateChannelConfig.rawValue), 'quota-exhausted'), false)
            as "lacksRoom",
        b.id as "newest.broadcast", b.content as "newest.contentState", b.stale_date as "newest.staleDate",
        b.relevance_score as "newest.relevanceScore",
        coalesce(greatest(u.last_timestamp, u.tokens_last_timestamp), 0) as "lastTimestamp"
        """

    /// The broadcast `b` that has the audience's newest content, and the channel `c`.
    static let joins: PostgresQuery = """
        left join lateral (
            select channel_id, created_at from channels where id = u.channel and state = 'active' offset 0) c on true
        left join lateral (
            select b.*, \(BroadcastRows.contentState("b", for: "u.variant")) as content from broadcasts b
            where b.id = u.newest_broadcast offset 0) b on b.content is not null
        \(LookupStore.refusal)
        """
}

/// The audiences in one app and environment that an event's start is for, in the order of their declaration. Each
/// follower is started on one of the audiences that are not over (`VariantChoice`).
extension [StartStanding] {
    /// The audiences that are not over, each with its next step.
    func open(at now: Date) -> [(standing: StartStanding, turn: StartStanding.Turn)] {
        compactMap { standing in standing.turn(at: now).map { (standing, $0) } }
    }

    /// - Parameters:
    ///   - isSending: whether pushes are under way.
    ///   - isLeft: whether a follower without a start may still get one.
    ///   - variants: the variants of the followers that may still get a start; empty: any variant.
    func state(
        at now: Date, isSending: Bool, isLeft: Bool, of variants: [String]
    ) -> (state: Contract.StartState, waitingFor: Contract.StartWait?) {
        if self[0].isStopped { return (.stopped, nil) }
        let open = open(at: now)
        guard let first = open.first?.standing else { return (.done, nil) }
        if isSending { return (.running, nil) }
        guard let window = first.window, window.from <= now else { return (.scheduled, nil) }
        guard isLeft else { return (.done, nil) }
        var reasons: [Contract.StartWait] = []
        for (standing, turn) in open where variants.isEmpty || variants.contains(standing.variant) {
            guard case .wait(_, let reason?) = turn else { return (.running, nil) }
            reasons.append(reason)
        }
        return reasons.first.map { (.waiting, $0) } ?? (.running, nil)
    }
}

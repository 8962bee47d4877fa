internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The state of an event's start for one audience: when the start may be sent, and what it waits for. It is computed
/// from the present state of the audience's event, lane and channel. Both senders and reports use it.
struct StartStanding {
    let audience: Audience.ID
    let topics: [String]
    let delivery: Audience.Delivery
    /// The declared start, if it includes this audience; `nil`: the audience has no start.
    let declaration: Contract.Start?
    /// The defaults of the event's messages and of its start.
    private let defaults: Contract.EventDefaults
    private(set) var isStopped: Bool
    private var askedAt: Date?
    private let startsAt: Date?
    private let endsAt: Date?
    private let lastMessageAt: Date?
    private let isEventOver: Bool
    private let channelID: String?
    /// When the row of the audience's channel was inserted; `nil`: there is no active channel.
    let channelMadeAt: Date?
    /// Whether the audience's channel cannot be created, because the app has no channel left in its limit or at Apple.
    private let lacksRoom: Bool
    private let newest: NewestContent?
    private let lastTimestamp: Int
    /// The broadcast whose content the start's pushes show; `nil`: the pushes show the declared content.
    var content: UUID? { newest?.broadcast }

    /// The next step.
    enum Turn {
        /// No more starts are sent.
        case close
        /// Nothing can be sent before this time. If there is no reason, the start's window has not begun.
        case wait(until: Date, Contract.StartWait?)
        /// This push may be sent.
        case send(StartShard.Push)
    }

    /// Seconds after which a start that waits for its channel or for a content is looked at again.
    static let patience: TimeInterval = 1

    var window: StartWindow? {
        declaration.flatMap {
            StartWindow($0, startsAt: startsAt, endsAt: endsAt, askedAt: askedAt, lastMessageAt: lastMessageAt)
        }
    }

    /// The state as if somebody had asked for the start by hand.
    func asked(at now: Date) -> StartStanding {
        var asked = self
        asked.askedAt = askedAt ?? now
        asked.isStopped = false
        return asked
    }

    /// Whether no more starts are sent, unless somebody resumes the start, moves its times or reopens the event.
    func isOver(at now: Date) -> Bool { isStopped || isEventOver || window.map { $0.until <= now } ?? false }

    func turn(at now: Date) -> Turn {
        guard !isOver(at: now), let declaration, let window else { return .close }
        guard window.from <= now else { return .wait(until: window.from, nil) }
        let later = now.addingTimeInterval(Self.patience)
        let channel: String?
        switch delivery {
        case .tokens: channel = nil
        case .channel, .unknown:
            guard let channelID else { return .wait(until: later, lacksRoom ? .room : .channel) }
            channel = channelID
        }
        guard
            let payload = StartPayload(
                declaration, newest: newest, filledBy: defaults, at: now, until: window.end(at: now))
        else {
            return .wait(until: later, .content)
        }
        // The push's timestamp is lower than the timestamp of every later update. A push with the newest content gets
        // the second before now, or the content's own timestamp if that is higher. A push with the declared content
        // gets two seconds before now. If a token joins a crowd, `CrowdNews` sends it the newest content. Because of
        // the lower timestamp, this content replaces the declared content even in the same second.
        let justNow = Int(now.timeIntervalSince1970.rounded(.down)) - 1
        let timestamp = newest == nil ? justNow - 1 : max(lastTimestamp, justNow)
        // If the push is too long, the start waits, because a newer content may be shorter.
        guard
            payload.fits(
                declaration.localAlerts.values, timestamp: timestamp, input: channel.map { .channel($0) } ?? .token)
        else { return .wait(until: later, .contentTooLong) }
        return .send(
            StartShard.Push(
                payload: payload, channelID: channel, timestamp: timestamp,
                expiration: window.expiration(of: declaration, at: now)))
    }

    // MARK: Reading

    /// The columns that `init` reads, of events `e`, their starts `s`, app_environments `ae`, audiences `u`, and
    /// `joins`.
    static let columns: PostgresQuery = """
        ae.bundle_id as start_bundle_id, ae.environment as start_environment,
        coalesce(u.variant, '') as start_variant, e.topics, e.defaults, \(EventStore.windowColumns),
        s.stopped_at is not null as is_stopped, s.event_key is not null and u.lane is not null as is_declared,
        e.ended_at is not null or e.cancelled_at is not null or l.fenced_at is not null or l.closed_at is not null
            as is_over,
        coalesce(f.reason in (\(APNsReason.cannotCreateChannelConfig.rawValue), 'quota-exhausted'), false)
            as lacks_room,
        coalesce(u.delivery, 'channel') as delivery, c.channel_id,
        c.created_at as channel_made_at,
        coalesce(l.last_timestamp, 0) as last_timestamp, b.id as newest_id,
        \(BroadcastRows.contentState("b", for: "u.variant")) as newest_content,
        b.stale_date as newest_stale_date, b.relevance_score
        """

    /// The lane `l` with the audience's newest content, the broadcast `b` that has this content, and the channel `c`.
    static let joins: PostgresQuery = """
        left join lateral (select * from lanes where id = \(CrowdRows.newsLane("u", "ae")) offset 0) l on true
        left join lateral (
            select channel_id, created_at from channels where id = l.channel and state = 'active' offset 0) c on true
        left join lateral (select * from broadcasts where id = l.newest_broadcast offset 0) b on true
        \(LookupStore.refusal)
        """

    init(_ row: PostgresRow) throws {
        audience = Audience.ID(
            bundleID: try row.word("start_bundle_id"), environment: try row.word("start_environment"),
            variant: try row.variant("start_variant"))
        topics = try row.decode("topics")
        defaults = try row.eventDefaults()
        delivery = try row.word("delivery")
        declaration = try row.decode(Bool.self, "is_declared") ? row.startDeclaration() : nil
        isStopped = try row.decode("is_stopped")
        askedAt = try row.decode("asked_at")
        startsAt = try row.decode("starts_at")
        endsAt = try row.decode("ends_at")
        lastMessageAt = try row.decode("last_message_at")
        isEventOver = try row.decode("is_over")
        channelID = try row.decode("channel_id")
        channelMadeAt = try row.decode("channel_made_at")
        lacksRoom = try row.decode("lacks_room")
        lastTimestamp = try row.decode("last_timestamp")
        newest = try row.decode(PostgresJSON?.self, "newest_content").map {
            NewestContent(
                broadcast: try row.decode("newest_id"), contentState: $0.bytes,
                staleDate: try row.decode("newest_stale_date"),
                relevanceScore: try row.decode(PostgresJSON?.self, "relevance_score")?.bytes)
        }
    }
}

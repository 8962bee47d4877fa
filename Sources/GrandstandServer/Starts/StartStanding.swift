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
    /// The declared start, if it includes this audience, and the time in which it is sent; `nil`: the audience has no
    /// start.
    let declaration: Contract.Start?
    let window: StartWindow?
    let isStopped: Bool
    private let isEventOver: Bool
    /// The defaults of the event's messages and of its start.
    private let defaults: Contract.EventDefaults
    private let delivery: Audience.Delivery
    /// Apple's ID of the audience's active channel, and when its row was inserted.
    private let channel: (id: String?, madeAt: Date?)
    /// Whether the audience's channel cannot be created, because the app has no channel left in its limit or at Apple.
    private let lacksRoom: Bool
    private let newest: NewestContent?
    private let lastTimestamp: Int

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

    /// The audience's variant as the column has it: empty for an audience without a variant.
    var variant: String { AudienceColumns.text(audience.variant) }

    /// Whether no more starts are sent, unless somebody resumes the start, moves its times or reopens the event.
    func isOver(at now: Date) -> Bool { isStopped || isEventOver || window.map { $0.until <= now } ?? false }

    func turn(at now: Date) -> Turn {
        guard !isOver(at: now), let declaration, let window else { return .close }
        guard window.from <= now else { return .wait(until: window.from, nil) }
        let later = now.addingTimeInterval(Self.patience)
        var channelID: String?
        switch delivery {
        case .tokens: break
        case .channel, .unknown:
            guard let id = channel.id else { return .wait(until: later, lacksRoom ? .room : .channel) }
            channelID = id
        }
        guard
            var payload = declaration.payload(
                newest: newest, filledBy: defaults, at: now, until: window.end(at: now))
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
        guard payload.size(declaration.localAlerts.values, timestamp: timestamp) <= APNsLimits.devicePayload else {
            return .wait(until: later, .contentTooLong)
        }
        return .send(
            StartShard.Push(
                variant: variant, payload: payload, channelID: channelID, channelMadeAt: channel.madeAt,
                content: newest?.broadcast, timestamp: timestamp,
                expiration: window.expiration(of: declaration, at: now)))
    }

    // MARK: Reading

    /// The columns that `init` reads, of events `e`, their starts `s`, app_environments `ae`, audiences `u`, and
    /// `joins`.
    static let columns: PostgresQuery = """
        ae.bundle_id as start_bundle_id, ae.environment as start_environment,
        coalesce(u.variant, '') as start_variant, e.topics, e.defaults, \(EventStore.windowColumns),
        s.stopped_at is not null as is_stopped, s.event_key is not null and u.lane is not null as is_declared,
        e.ended_at is not null or e.cancelled_at is not null or u.fenced_at is not null or u.closed_at is not null
            as is_over,
        coalesce(f.reason in (\(APNsReason.cannotCreateChannelConfig.rawValue), 'quota-exhausted'), false)
            as lacks_room,
        coalesce(u.delivery, 'channel') as delivery, c.channel_id,
        c.created_at as channel_made_at,
        coalesce(greatest(u.last_timestamp, u.tokens_last_timestamp), 0) as last_timestamp, b.id as newest_id,
        \(BroadcastRows.contentState("b", for: "u.variant")) as newest_content,
        b.stale_date as newest_stale_date, b.relevance_score
        """

    /// The broadcast `b` that has the audience's newest content, and the channel `c`.
    static let joins: PostgresQuery = """
        left join lateral (
            select channel_id, created_at from channels where id = u.channel and state = 'active' offset 0) c on true
        left join lateral (select * from broadcasts where id = u.newest_broadcast offset 0) b on true
        \(LookupStore.refusal)
        """

    /// - Parameter now: reads the state as if somebody asked for the start by hand at this time; `nil`: the state as it
    ///   is.
    init(_ row: PostgresRow, askedAt now: Date? = nil) throws {
        audience = try AudienceColumns.id(row, as: "start_")
        topics = try row.decode("topics")
        defaults = try row.eventDefaults()
        delivery = try row.word("delivery")
        let isDeclared: Bool = try row.decode("is_declared")
        declaration = isDeclared ? try row.startDeclaration() : nil
        window = isDeclared ? try row.startWindow(askedAt: now) : nil
        let isStopped: Bool = try row.decode("is_stopped")
        self.isStopped = isStopped && now == nil
        isEventOver = try row.decode("is_over")
        channel = (try row.decode("channel_id"), try row.decode("channel_made_at"))
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

/// The audiences in one app and environment that an event's start is for, in the order of their declaration. Each
/// follower is started on one of the audiences that are not over (`VariantChoice`).
extension [StartStanding] {
    /// The audiences that are not over, each with its next step.
    func open(at now: Date) -> [(standing: StartStanding, turn: StartStanding.Turn)] {
        compactMap { standing in
            let turn = standing.turn(at: now)
            if case .close = turn { return nil }
            return (standing, turn)
        }
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

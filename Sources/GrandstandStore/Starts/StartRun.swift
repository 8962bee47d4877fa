internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// A run that is locked, with what its event, lane and channel say of it now.
struct StartRun {
    let id: Int
    let app: Int
    /// Installations whose pushes somebody was making.
    let noted: [Int]
    var cursor: Int
    var isSwept: Bool
    let address: APNsAddress
    let topics: [String]
    /// Of those whose sweep it is.
    let attributesType: String
    /// What is declared now for this app; `nil`: nothing.
    private let declaration: StartDeclaration?
    private let window: StartWindow?
    private let isOver: Bool
    let delivery: Audience.Delivery
    private let channelID: String?
    private let newest: (contentState: [UInt8], staleDate: Int?, relevanceScore: [UInt8]?)?
    private let lastTimestamp: Int
    /// The broadcast whose content its pushes show; `nil`: the declaration has one.
    let content: UUID?

    /// What is to be done with it.
    enum Turn {
        /// Nobody gets a start any more.
        case close
        /// Nothing can go before this.
        case wait(until: Date)
        /// A shard may go: this one, without members.
        case send(StartShard)
    }

    /// When a run that waits for its channel, or for a content, is looked at again.
    private static let patience: TimeInterval = 1

    func turn(now: Date) -> Turn {
        guard !isOver, let declaration, let window, window.until > now else { return .close }
        guard window.from <= now else { return .wait(until: window.from) }
        let later = now.addingTimeInterval(Self.patience)
        guard delivery == .tokens || channelID != nil else { return .wait(until: later) }
        let payload: StartPayload
        if let contentState = declaration.contentState {
            payload = StartPayload(declaration, contentState: contentState)
        } else if let newest {
            payload = StartPayload(
                declaration, contentState: newest.contentState, staleDate: newest.staleDate,
                relevanceScore: newest.relevanceScore)
        } else {
            return .wait(until: later)
        }
        // Below that of every update to come, and not below that of the newest content when it shows that. What was
        // declared gives way to the newest content that is sent to a token as it comes (`CrowdNews`), even in the
        // same second.
        let justNow = Int(now.timeIntervalSince1970.rounded(.down)) - 1
        let timestamp = declaration.contentState == nil ? max(lastTimestamp, justNow) : justNow - 1
        let channelID = delivery == .channel ? channelID : nil
        // A newer content may be shorter.
        guard
            payload.fits(
                declaration.alertsByLocale.values, timestamp: timestamp,
                input: channelID.map { .channel($0) } ?? .token)
        else { return .wait(until: later) }
        return .send(
            StartShard(
                run: id, address: address, payload: payload, alerts: LocaleLookup(declaration.alertsByLocale),
                channelID: channelID, timestamp: timestamp, until: window.until, members: []))
    }

    /// A run by its number, as `init` reads it.
    static func load(_ id: Int) -> PostgresQuery {
        """
        select r.id, r.app, r.noted, r.cursor, r.is_swept, r.attributes_type as swept_type, e.topics, e.starts_at,
            e.ends_at, s.asked_at,
            s.event_key is not null and s.stopped_at is null and u.lane is not null as is_declared,
            e.ended_at is not null or e.cancelled_at is not null or l.fenced_at is not null or l.closed_at is not null
                as is_over,
            \(PostgresEventStore.startColumns), coalesce(u.delivery, 'channel') as delivery, c.channel_id,
            coalesce(l.last_timestamp, 0) as last_timestamp, b.id as newest_id,
            \(BroadcastRows.contentState("b", for: "u.variant")) as newest_content,
            b.stale_date as newest_stale_date, b.relevance_score, \(PostgresChannelStore.addressColumns)
        from (select * from start_runs where id = \(id)) r
        join app_environments ae on ae.id = r.app \(PostgresChannelStore.addressJoins)
        join events e on e.key = r.event_key
        left join event_starts s on s.event_key = r.event_key
        left join lateral (
            \(AudienceColumns.first(
                of: "r.event_key", in: "ae", where: AudienceColumns.isSelected("n", by: "s.audiences")))) u on true
        left join lateral (select * from lanes where id = \(CrowdRows.newsLane("u", "ae")) offset 0) l on true
        left join lateral (select channel_id from channels where id = l.channel and state = 'active' offset 0) c on true
        left join lateral (select * from broadcasts where id = l.newest_broadcast offset 0) b on true
        """
    }

    /// Reads a row of `load`.
    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        app = try row.decode("app")
        noted = try row.decode("noted")
        cursor = try row.decode("cursor")
        isSwept = try row.decode("is_swept")
        topics = try row.decode("topics")
        attributesType = try row.decode("swept_type")
        let address = try PostgresChannelStore.address(row)
        self.address = address
        isOver = try row.decode("is_over")
        delivery = try row.word("delivery")
        channelID = try row.decode("channel_id")
        lastTimestamp = try row.decode("last_timestamp")
        newest = try row.decode(PostgresJSON?.self, "newest_content").map {
            (
                $0.bytes, try row.decode(Int?.self, "newest_stale_date"),
                try row.decode(PostgresJSON?.self, "relevance_score")?.bytes
            )
        }
        guard try row.decode(Bool.self, "is_declared") else {
            declaration = nil
            window = nil
            content = nil
            return
        }
        let declaration = try row.startDeclaration()
        self.declaration = declaration
        content = declaration.contentState == nil ? try row.decode(UUID?.self, "newest_id") : nil
        window = StartWindow(
            declaration, startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at"),
            askedAt: try row.decode("asked_at"))
    }
}

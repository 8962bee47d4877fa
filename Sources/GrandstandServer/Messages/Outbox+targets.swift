internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Locks the rows on which `Acceptance` decides, until the commit: first events, then lanes, then channels. The rows of
/// each table are always locked in the same order.
extension Outbox {
    /// - Parameters:
    ///   - types: reads content types; `nil`: contents are not checked.
    ///   - comparing: whether the newest contents are read, too, because something is compared with them or takes them.
    static func lock(
        _ targets: Set<BroadcastTarget>, types: ContentTypeCache? = nil,
        alertFreshness: TimeInterval = DeliveryPlan.alertFreshness, comparing: Bool = false,
        on connection: PostgresConnection, now: Date
    ) async throws -> Acceptance {
        let keys = targets.compactMap(\.eventKey?.rawValue).sorted()
        let channels = targets.compactMap(\.channel).sorted { $0.uuidString < $1.uuidString }
        // One statement locks the lanes of all targets, so that all lanes are locked in one order.
        var parts: [PostgresQuery] = []
        var round = Round([planning(rows: targets.count)])
        if !keys.isEmpty {
            parts.append("select lane from audience_lanes where event_key = any(\(keys))")
            round.add(lockEvents(keys), as: .events)
        }
        if !channels.isEmpty { parts.append("select id from lanes where channel = any(\(channels))") }
        guard let first = parts.first else { return Acceptance(targets: [:], lanes: [], now: now) }
        let lanes: PostgresQuery = "(array(\(parts.dropFirst().reduce(first) { "\($0) union all \($1)" })))"
        if !channels.isEmpty {
            round.add(lockLanes(lanes))
            round.add(lockChannels(channels), as: .channels)
            round.add(missingLanes(channels))
        }
        round.add(lockLanes(lanes))
        // A member joins a crowd under the lane's lock. So a member either joined before this point and is seen here,
        // or it joins after this transaction.
        if !keys.isEmpty { round.add(audiences(keys), as: .audiences) }
        if types != nil { round.add(ContentRows.ofApps(lanes), as: .types) }
        if comparing { round.add(ContentRows.newest(lanes), as: .newest) }
        for statement in LaneRows.loadLocked(lanes) { round.add(statement) }
        let results = try await connection.pipeline(round.statements)
        let rows = results[results.count - 2]
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        var named: [Int: String] = [:]
        if let events = round.rows(.events, results), let audiences = round.rows(.audiences, results) {
            states = try Self.states(events: events, audiences: audiences)
            named = try Self.contentTypes(events: events, audiences: audiences)
        }
        if let channels = round.rows(.channels, results) {
            states.merge(try Self.states(channels: channels, lanes: rows)) { one, _ in one }
        }
        let loaded = try LaneRows.lanes(results)
        let following = Set(states.values.lazy.flatMap(\.leads.keys))
        var known = ContentRows.Types()
        if let types, let rows = round.rows(.types, results) {
            known = try await types.types(of: loaded, named: named, rows, on: connection)
        }
        return Acceptance(
            targets: states, lanes: loaded, types: known,
            broadcasts: try round.rows(.newest, results).map(ContentRows.known) ?? [:],
            // An audience that is reached by tokens needs no channel: its own lane follows its crowd's lane. So lanes
            // that follow another lane are not checked here.
            withoutPlace: try await withoutPlace(loaded.filter { !following.contains($0.id) }, on: connection),
            alertFreshness: alertFreshness, now: now)
    }

    /// Lanes of audiences whose channels cannot be created, because the app has no channel left in its limit or at
    /// Apple. If every lane has its channel, the database is not asked.
    private static func withoutPlace(_ lanes: [Lane], on connection: PostgresConnection) async throws -> Set<Int> {
        let unserved = lanes.filter { $0.kind == .channel && $0.channel == nil && $0.fencedAt == nil }.map(\.id)
        guard !unserved.isEmpty else { return [] }
        let rows = try await connection.query(
            """
            select u.lane from audiences u where u.lane = any(\(unserved)) and exists (
                select from (select * from channels where event_key = u.event_key offset 0) c
                where \(AudienceColumns.serves("c", "u")) and c.state = 'failed'
                    and c.reason in (\(APNsReason.cannotCreateChannelConfig.rawValue), 'quota-exhausted'))
            """)
        return Set(try rows.map { try $0.decode(Int.self, "lane") })
    }

    /// Statements of one round trip. The results of some of them are read by name.
    private struct Round {
        enum Part { case events, audiences, channels, types, newest }

        private(set) var statements: [PostgresQuery]
        private var places: [Part: Int] = [:]

        init(_ statements: [PostgresQuery]) { self.statements = statements }

        mutating func add(_ statement: PostgresQuery, as part: Part? = nil) {
            if let part { places[part] = statements.count }
            statements.append(statement)
        }

        func rows(_ part: Part, _ results: [PostgresRows]) -> PostgresRows? { places[part].map { results[$0] } }
    }

    private static func lockEvents(_ keys: [String]) -> PostgresQuery {
        """
        select key, ended_at is not null or cancelled_at is not null as is_over,
            first_update_at is not null as is_started, defaults, starts_at, ends_at, state_sequence,
            state_epoch, quiet_at, content
        from events
        where key = any(\(keys)) order by key for no key update
        """
    }

    /// The lanes of events' audiences: first the audiences' own lanes, then the lanes of crowds.
    private static func audiences(_ keys: [String]) -> PostgresQuery {
        """
        select v.event_key, v.audience_lane, v.lane, v.is_lead, v.content, \(CrowdRows.hasMembers("v.lane")) as has_members
        from audience_lanes v where v.event_key = any(\(keys)) order by v.lane <> v.audience_lane, v.position, v.lane
        """
    }

    /// Locks lanes for a transaction that loads them after it has locked channels.
    ///
    /// - Parameter ids: an expression of `bigint[]`.
    static func lockLanes(_ ids: PostgresQuery) -> PostgresQuery {
        "select from lanes where id = any(\(ids)) order by id for no key update"
    }

    private static func lockChannels(_ ids: [UUID]) -> PostgresQuery {
        """
        select id, event_key is null and state = 'active' as takes_broadcasts from channels
        where id = any(\(ids)) order by id for no key update
        """
    }

    /// Inserts the missing lanes of channels without an event. Such a channel gets its lane with its first broadcast.
    private static func missingLanes(_ ids: [UUID]) -> PostgresQuery {
        """
        insert into lanes (bundle_id, environment, storage_policy, channel)
        select c.bundle_id, c.environment, c.storage_policy, c.id from channels c
        where c.id = any(\(ids)) and c.event_key is null and c.state = 'active'
            and not exists (select from lanes l where l.channel = c.id)
        """
    }

    private static func states(
        events: PostgresRows, audiences: PostgresRows
    ) throws -> [BroadcastTarget: Acceptance.TargetState] {
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        for row in events {
            states[.event(try row.word("key"))] = Acceptance.TargetState(
                isOver: try row.decode("is_over"), isStarted: try row.decode("is_started"),
                defaults: try row.eventDefaults(),
                times: EventTimes(startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at")),
                progress: StateDecision.Progress(
                    sequence: try row.decode("state_sequence"), epoch: try row.decode("state_epoch"),
                    quietAt: try row.decode("quiet_at")), lanes: [])
        }
        var leads: [Int: Int] = [:]
        for row in audiences where try row.decode(Bool.self, "is_lead") {
            leads[try row.decode("audience_lane")] = try row.decode("lane")
        }
        for row in audiences {
            // The lead of an audience is the lane that takes every message and that the audience's other lanes follow.
            // An audience without a lead can get no messages.
            guard let lead = leads[try row.decode("audience_lane")] else { continue }
            let (target, lane): (BroadcastTarget, Int) = (
                .event(try row.word("event_key")), try row.decode("lane")
            )
            states[target]?.lanes.append(lane)
            if lane != lead { states[target]?.leads[lane] = lead }
            if try row.decode(Bool.self, "has_members") { states[target]?.populated.insert(lane) }
        }
        return states
    }

    /// The content types that audiences or their events name, by the audiences' lanes.
    private static func contentTypes(events: PostgresRows, audiences: PostgresRows) throws -> [Int: String] {
        var ofEvents: [String: String] = [:]
        for row in events {
            if let name = try row.decode(String?.self, "content") { ofEvents[try row.decode("key")] = name }
        }
        var named: [Int: String] = [:]
        for row in audiences {
            var name = try row.decode(String?.self, "content")
            if name == nil, !ofEvents.isEmpty { name = ofEvents[try row.decode("event_key")] }
            if let name { named[try row.decode("lane")] = name }
        }
        return named
    }

    private static func states(
        channels: PostgresRows, lanes: PostgresRows
    ) throws -> [BroadcastTarget: Acceptance.TargetState] {
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        for row in channels where try row.decode(Bool.self, "takes_broadcasts") {
            states[.channel(try row.decode("id"))] = Acceptance.TargetState(isOver: false, lanes: [])
        }
        for row in lanes {
            guard let channel = try row.decode(UUID?.self, "channel") else { continue }
            states[.channel(channel)]?.lanes.append(try row.decode("lane"))
        }
        return states.filter { !$0.value.lanes.isEmpty }
    }
}

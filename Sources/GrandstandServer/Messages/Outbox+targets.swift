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
        var statements = Statements([planning(rows: targets.count)])
        if !keys.isEmpty {
            parts.append("select lane from audiences where event_key = any(\(keys))")
            statements.add(lockEvents(keys), as: .events)
        }
        if !channels.isEmpty { parts.append("select id from lanes where channel = any(\(channels))") }
        guard let first = parts.first else { return Acceptance(targets: [:], lanes: [], now: now) }
        let lanes: PostgresQuery = "(array(\(parts.dropFirst().reduce(first) { "\($0) union all \($1)" })))"
        if !channels.isEmpty {
            statements.add(LaneRows.lock(lanes))
            statements.add(lockChannels(channels), as: .channels)
            statements.add(missingLanes(channels))
        }
        statements.add(LaneRows.lock(lanes))
        // A claim reads the newest content under the lane's lock. So a token that is not seen here gets what is
        // accepted here as its newest content.
        if !keys.isEmpty { statements.add(audiences(keys), as: .audiences) }
        if types != nil { statements.add(ContentRows.types(of: lanes), as: .types) }
        if comparing { statements.add(ContentRows.newest(lanes), as: .newest) }
        for statement in LaneRows.loadLocked(lanes) { statements.add(statement) }
        let results = try await connection.pipeline(statements.all)
        let loaded = try LaneRows.lanes(results)
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        if let events = statements.rows(.events, results), let audiences = statements.rows(.audiences, results) {
            states = try Self.states(events: events, audiences: audiences)
        }
        if let channels = statements.rows(.channels, results) {
            states.merge(try Self.states(channels: channels, loaded)) { one, _ in one }
        }
        var known = ContentRows.Types()
        if let types, let rows = statements.rows(.types, results) {
            known = try await types.types(rows, on: connection)
        }
        return Acceptance(
            targets: states, lanes: loaded, types: known,
            broadcasts: try statements.rows(.newest, results).map(ContentRows.known) ?? [:],
            withoutPlace: try await withoutPlace(loaded, on: connection),
            alertFreshness: alertFreshness, now: now)
    }

    /// Lanes of audiences whose channels cannot be created, because the app has no channel left in its limit or at
    /// Apple. If every lane has its channel, the database is not asked.
    private static func withoutPlace(_ lanes: [Lane], on connection: PostgresConnection) async throws -> Set<Int> {
        let unserved = lanes.filter {
            $0.audience.delivery == .channel && $0.channel == nil && $0.fencedAt == nil
        }.map(\.id)
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
    private struct Statements {
        enum Part { case events, audiences, channels, types, newest }

        private(set) var all: [PostgresQuery]
        private var places: [Part: Int] = [:]

        init(_ first: [PostgresQuery]) { all = first }

        mutating func add(_ statement: PostgresQuery, as part: Part? = nil) {
            if let part { places[part] = all.count }
            all.append(statement)
        }

        func rows(_ part: Part, _ results: [PostgresRows]) -> PostgresRows? { places[part].map { results[$0] } }
    }

    private static func lockEvents(_ keys: [String]) -> PostgresQuery {
        """
        select key, ended_at is not null or cancelled_at is not null as is_over,
            first_update_at is not null as is_started, defaults, starts_at, ends_at, state_sequence,
            state_epoch, quiet_at
        from events
        where key = any(\(keys)) order by key for no key update
        """
    }

    private static func audiences(_ keys: [String]) -> PostgresQuery {
        """
        select u.event_key, u.lane, \(CrowdRows.hasTokens("u.lane")) as has_tokens
        from audiences u where u.event_key = any(\(keys)) order by u.position, u.lane
        """
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
        for row in audiences {
            let (target, lane): (BroadcastTarget, Int) = (
                .event(try row.word("event_key")), try row.decode("lane")
            )
            states[target]?.lanes.append(lane)
            if try row.decode(Bool.self, "has_tokens") { states[target]?.populated.insert(lane) }
        }
        return states
    }

    private static func states(
        channels: PostgresRows, _ lanes: [Lane]
    ) throws -> [BroadcastTarget: Acceptance.TargetState] {
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        for row in channels where try row.decode(Bool.self, "takes_broadcasts") {
            states[.channel(try row.decode("id"))] = Acceptance.TargetState(isOver: false, lanes: [])
        }
        for lane in lanes {
            if let channel = lane.channel { states[.channel(channel.id)]?.lanes.append(lane.id) }
        }
        return states.filter { !$0.value.lanes.isEmpty }
    }
}

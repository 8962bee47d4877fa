internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Locks the rows on which `Acceptance` decides, until the commit: first events, then lanes, then channels. The rows of
/// each table are always locked in the same order.
extension Outbox {
    /// - Parameters:
    ///   - comparing: whether the newest contents are read, too, because something is compared with them or takes them.
    ///   - types: reads content types; `nil`: contents are not checked.
    static func lock(
        _ targets: Set<BroadcastTarget>, comparing: Bool = false, types: ContentTypeCache? = nil,
        alertFreshness: TimeInterval = DeliveryPlan.alertFreshness, on connection: PostgresConnection, now: Date
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
        if !channels.isEmpty { parts.append("select lane from audiences where channel = any(\(channels))") }
        let lanes: PostgresQuery = "(array(\(parts.dropFirst().reduce(parts[0]) { "\($0) union all \($1)" })))"
        if !channels.isEmpty {
            statements.add(LaneRows.lock(lanes))
            statements.add(lockChannels(channels), as: .channels)
            statements.add(missingLanes(channels))
        }
        statements.add(LaneRows.lock(lanes))
        if types != nil { statements.add(ContentRows.types(of: lanes), as: .types) }
        if comparing { statements.add(ContentRows.newest(lanes), as: .newest) }
        // A claim reads the newest content under the lane's lock. So a token that is not seen here gets what is
        // accepted here as its newest content.
        let hasActivities: PostgresQuery =
            "(select true from activities where event_key = l.event_key order by event_key, id limit 1) is not null"
        let more: PostgresQuery =
            ", l.event_key, l.position, \(hasActivities) and \(CrowdRows.hasTokens("l.lane")) as has_tokens"
        for statement in LaneRows.loadLocked(lanes, more) { statements.add(statement) }
        let results = try await connection.pipeline(statements.all)
        let loaded = try LaneRows.lanes(results)
        func rows(_ part: Statements.Part) -> [PostgresRow] { statements.rows(part, results).map(Array.init) ?? [] }
        var states: [BroadcastTarget: Acceptance.TargetState] = [:]
        for row in rows(.events) {
            states[.event(try row.word("key"))] = Acceptance.TargetState(
                isOver: try row.decode("is_over"), startedAt: try row.decode("first_update_at"),
                defaults: try row.eventDefaults(),
                times: EventTimes(startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at")),
                progress: StateDecision.Progress(
                    sequence: try row.decode("state_sequence"), epoch: try row.decode("state_epoch"),
                    quietAt: try row.decode("quiet_at")))
        }
        var populated: Set<Int> = []
        let laneRows = results[results.count - 2]
        let positions: [Int] = try laneRows.map { try $0.decode("position") }
        for place in loaded.indices.sorted(by: { (positions[$0], $0) < (positions[$1], $1) }) {
            let row = laneRows[place]
            if try row.decode(Bool.self, "has_tokens") { populated.insert(loaded[place].id) }
            if let key: EventKey = try row.optionalWord("event_key") { states[.event(key)]?.places.append(place) }
        }
        for row in rows(.channels) where try row.decode(Bool.self, "takes_broadcasts") {
            let id: UUID = try row.decode("id")
            let places = loaded.indices.filter { loaded[$0].channel?.id == id }
            if !places.isEmpty { states[.channel(id)] = Acceptance.TargetState(isOver: false, places: places) }
        }
        return Acceptance(
            now: now, alertFreshness: alertFreshness, loadedTargets: states, targets: states, loaded: loaded,
            lanes: loaded, populated: populated,
            types: try await types?.types(rows(.types), on: connection) ?? .init(),
            known: try ContentRows.known(rows(.newest)), withoutPlace: try await withoutPlace(loaded, on: connection))
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
        enum Part { case events, channels, types, newest }

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
        select key, ended_at is not null or cancelled_at is not null as is_over, first_update_at, defaults, starts_at,
            ends_at, state_sequence, state_epoch, quiet_at
        from events
        where key = any(\(keys)) order by key for no key update
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
        insert into audiences (bundle_id, environment, storage_policy, channel)
        select c.bundle_id, c.environment, c.storage_policy, c.id from channels c
        where c.id = any(\(ids)) and c.event_key is null and c.state = 'active'
            and not exists (select from audiences u where u.channel = c.id)
        """
    }
}

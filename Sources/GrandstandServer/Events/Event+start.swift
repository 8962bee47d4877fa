internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// An event's topics (column `events.topics`) and the start that the event declares (table `event_starts`).
extension EventStore {
    /// Writes the event's topics and start as the specification has them. If the start has an open run (a row of
    /// `start_runs`), the run is changed by its next claim, not here. To change it here, the declaration would have to
    /// wait for the run's lock.
    static func writeStart(
        _ specification: EventSpecification, by actor: AuditActor, now: Date, on connection: PostgresConnection
    ) async throws {
        let key = specification.key.rawValue
        let topics = specification.topics.map(\.rawValue)
        try await connection.pipeline([
            "update events set topics = \(topics) where key = \(key) and topics <> \(topics)",
            specification.start.map { declare($0, specification, by: actor) }
                ?? "delete from event_starts where event_key = \(key)",
            StartStore.makeDue(specification.key, now: now),
            "select pg_notify(\(WakeTopic.starts.rawValue), '') where \(specification.start != nil)",
        ])
    }

    /// If a person requested or stopped the start, a declaration does not undo this. If the declaration changes
    /// nothing, `declared_by` stays.
    private static func declare(
        _ start: Contract.Start, _ specification: EventSpecification, by actor: AuditActor
    ) -> PostgresQuery {
        let opensAt = StartWindow(start, startsAt: specification.startsAt, endsAt: specification.endsAt)?.from
        let audiences = start.audiences.map { PostgresJSON(bytes: JSONWriter.text($0)) }
        let alerts = start.alertsByLocale.map { PostgresJSON(bytes: JSONWriter.text($0)) }
        return """
            insert into event_starts as s (event_key, \(names()), opens_at, declared_by)
            values (\(specification.key.rawValue), \(start.at), \(start.until), \(start.attributesType),
                \(PostgresJSON(bytes: Array(start.attributes.bytes))),
                \(start.contentState.map { PostgresJSON(bytes: Array($0.bytes)) }),
                \(PostgresJSON(bytes: Array(start.alert.bytes))), \(alerts), \(start.staleDate?.epoch),
                \(start.expiresIn), \(audiences), \(start.restart), \(opensAt), \(actor.text))
            on conflict (event_key) do update set (\(names())) = (\(names(of: "excluded"))),
                declared_by = case when row(\(names(of: "s")))::text <> row(\(names(of: "excluded")))::text
                    then excluded.declared_by else s.declared_by end,
                opens_at = case when s.stopped_at is null then least(s.asked_at, excluded.opens_at) end
            """
    }

    /// The columns of a row of `event_starts` that its organiser declares.
    private static func names(of row: String? = nil) -> PostgresQuery {
        .list(
            [
                "at", "until", "attributes_type", "attributes", "content_state", "alert", "alerts_by_locale",
                "stale_date",
                "expires_in", "audiences", "restarts",
            ], of: row)
    }

    /// The columns that `startDeclaration` reads, of `event_starts s`.
    static let startColumns: PostgresQuery = """
        s.at as "start.at", s.until as "start.until", s.attributes_type as "start.attributesType",
        s.attributes as "start.attributes", s.content_state as "start.contentState", s.alert as "start.alert",
        s.alerts_by_locale as "start.alertsByLocale", to_timestamp(s.stale_date) as "start.staleDate",
        s.expires_in as "start.expiresIn", s.audiences as "start.audiences", s.restarts as "start.restart"
        """

    /// When an event `e` got its newest message, or was opened again; null: never.
    static let lastMessage: PostgresQuery = """
        greatest(e.reopened_at,
            (select accepted_at from broadcasts where event_key = e.key order by accepted_at desc, id desc limit 1))
        """

    /// The columns that `startWindow` reads, of `event_starts s` and `events e`.
    static let windowColumns: PostgresQuery =
        "\(startColumns), s.asked_at, e.starts_at, e.ends_at, \(lastMessage) as last_message_at"

    /// Says who gets the card of an event that was moved or opened again; empty: nobody has got one yet.
    func outlook(of key: EventKey, now: Date) async throws -> [String] {
        let rows = try await database.query(
            """
            select \(Self.windowColumns), s.stopped_at is not null as is_stopped, (
                    select count(*) from (
                        select id from start_runs where event_key = e.key offset 0) r
                    cross join lateral (
                        select from starts where run = r.id and state in ('accepted', 'unknown') offset 0) c)
                    as started
            from event_starts s join events e on e.key = s.event_key where e.key = \(key.rawValue)
            """)
        guard let row = rows.first, let window = try row.startWindow() else { return [] }
        let started: Int = try row.decode("started")
        guard started > 0 else { return [] }
        return [
            try row.startDeclaration().outlook(
                window, started: started, isStopped: row.decode("is_stopped"), at: now)
        ]
    }
}

extension PostgresRow {
    /// The declaration in a row with `EventStore.startColumns`.
    func startDeclaration() throws -> Contract.Start { try read(Declared.self).start }

    private struct Declared: Decodable {
        let start: Contract.Start
    }

    /// The window of the start in a row with `EventStore.windowColumns`.
    ///
    /// - Parameter now: when the start is requested, if it was not requested before.
    func startWindow(askedAt now: Date? = nil) throws -> StartWindow? {
        StartWindow(
            try startDeclaration(), startsAt: try decode("starts_at"), endsAt: try decode("ends_at"),
            askedAt: try decode("asked_at") ?? now, lastMessageAt: try decode("last_message_at"))
    }

    /// The defaults of an event's messages.
    func eventDefaults() throws -> Contract.EventDefaults {
        try decode(PostgresJSON?.self, "defaults").map { try JSONValue(decoding: $0.bytes).decode() } ?? .init()
    }

    func topics() throws -> [Topic] {
        try decode([String].self, "topics").map { text in
            guard let topic = Topic(rawValue: text) else { throw UnknownWord(column: "topics", text: text) }
            return topic
        }
    }
}

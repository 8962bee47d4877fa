internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// An event's topics (column `events.topics`) and the start that the event declares (table `event_starts`).
extension PostgresEventStore {
    /// Writes the event's topics and start as the specification has them. If the start has an open run (a row of
    /// `fan_outs`), the run is changed by its next claim, not here. To change it here, the declaration would have to
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
            PostgresStartStore.makeDue(specification.key, now: now),
            "select pg_notify(\(WakeTopic.starts.rawValue), '') where \(specification.start != nil)",
        ])
    }

    /// If a person requested or stopped the start, a declaration does not undo this. If the declaration changes
    /// nothing, `declared_by` stays.
    private static func declare(
        _ start: StartDeclaration, _ specification: EventSpecification, by actor: AuditActor
    ) -> PostgresQuery {
        let opensAt = StartWindow(start, startsAt: specification.startsAt, endsAt: specification.endsAt)?.from
        let audiences = start.audiences.map { PostgresJSON(text: AudienceSelectors.text($0)) }
        let staleDate = start.staleDate.map { Int($0.timeIntervalSince1970.rounded(.down)) }
        return """
            insert into event_starts as s (event_key, at, until, attributes_type, attributes, content_state, alert,
                alerts_by_locale, stale_date, audiences, restarts, opens_at, declared_by)
            values (\(specification.key.rawValue), \(start.at), \(start.until), \(start.attributesType),
                \(PostgresJSON(bytes: start.attributes)), \(start.contentState.map(PostgresJSON.init(bytes:))),
                \(PostgresJSON(bytes: start.alert)), \(start.alertsByLocaleText.map(PostgresJSON.init(bytes:))),
                \(staleDate), \(audiences), \(start.restarts), \(opensAt), \(actor.text))
            on conflict (event_key) do update set at = excluded.at, until = excluded.until,
                attributes_type = excluded.attributes_type, attributes = excluded.attributes,
                content_state = excluded.content_state, alert = excluded.alert,
                alerts_by_locale = excluded.alerts_by_locale, stale_date = excluded.stale_date,
                audiences = excluded.audiences, restarts = excluded.restarts,
                declared_by = case when (\(said("s"))) is distinct from (\(said("excluded")))
                    then excluded.declared_by else s.declared_by end,
                opens_at = case when s.stopped_at is null then least(s.asked_at, excluded.opens_at) end
            """
    }

    /// All declared columns of a row of `event_starts`, for a comparison.
    private static func said(_ row: PostgresQuery) -> PostgresQuery {
        """
        \(row).at, \(row).until, \(row).attributes_type, \(row).attributes::text, \(row).content_state::text,
            \(row).alert::text, \(row).alerts_by_locale::text, \(row).stale_date, \(row).audiences::text,
            \(row).restarts
        """
    }

    /// The starts that events declare, by the keys of the events.
    func starts(of keys: [String]) async throws -> [String: StartDeclaration] {
        let rows = try await database.query(
            "select s.event_key, \(Self.startColumns) from event_starts s where s.event_key = any(\(keys))")
        var starts: [String: StartDeclaration] = [:]
        for row in rows { starts[try row.decode("event_key")] = try row.startDeclaration() }
        return starts
    }

    /// The columns that `startDeclaration` reads, of `event_starts s`.
    static let startColumns: PostgresQuery = """
        s.at, s.until, s.attributes_type, s.attributes, s.content_state as declared_content, s.alert, s.alerts_by_locale,
        s.stale_date as declared_stale_date, s.audiences, s.restarts
        """
}

extension PostgresRow {
    /// The declaration in a row with `PostgresEventStore.startColumns`.
    func startDeclaration() throws -> StartDeclaration {
        StartDeclaration(
            at: try decode("at"), until: try decode("until"), attributesType: try decode("attributes_type"),
            attributes: try decode(PostgresJSON.self, "attributes").bytes,
            contentState: try decode(PostgresJSON?.self, "declared_content")?.bytes,
            alert: try decode(PostgresJSON.self, "alert").bytes,
            alertsByLocale: try decode(PostgresJSON?.self, "alerts_by_locale").map {
                try StartDeclaration.alertsByLocale($0.bytes)
            } ?? [:],
            staleDate: try decode(Int?.self, "declared_stale_date").map {
                Date(timeIntervalSince1970: Double($0))
            },
            audiences: try decode(PostgresJSON?.self, "audiences").map { try AudienceSelectors.read($0.bytes) },
            restarts: try decode("restarts"))
    }

    /// The defaults of an event's messages.
    func eventDefaults() throws -> EventDefaults {
        try decode(PostgresJSON?.self, "defaults").map { try EventDefaults(parsing: $0.bytes) } ?? EventDefaults()
    }

    func topics() throws -> [Topic] {
        try decode([String].self, "topics").map { text in
            guard let topic = Topic(rawValue: text) else { throw UnknownWord(column: "topics", text: text) }
            return topic
        }
    }
}

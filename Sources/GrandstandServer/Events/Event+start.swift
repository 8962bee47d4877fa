internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// The start that an event declares (table `event_starts`).
extension EventStore {
    /// Writes the event's start as it is declared. If the start has an open run (a row of `start_runs`), the run's next
    /// claim reads the declaration. `StartStore.makeDue` makes the run due.
    ///
    /// If a person requested or stopped the start, a declaration does not undo this.
    static func writeStart(_ key: String, _ draft: Contract.EventDraft, by actor: AuditActor) -> PostgresQuery {
        guard let start = draft.start else { return "delete from event_starts where event_key = \(key)" }
        return """
            insert into event_starts as s (event_key, declaration, at, attributes_type, restarts, opens_at, declared_by)
            values (\(key), \(PostgresJSON(bytes: JSONWriter.text(start))), \(start.at), \(start.attributesType),
                \(start.restart ?? false), \(start.at ?? draft.startsAt), \(actor.text))
            on conflict (event_key) do update set declaration = excluded.declaration, at = excluded.at,
                attributes_type = excluded.attributes_type, restarts = excluded.restarts,
                declared_by = excluded.declared_by,
                opens_at = case when s.stopped_at is null then least(s.asked_at, excluded.opens_at) end
            """
    }

    /// When an event `e` got its newest message, or was opened again; null: never.
    static let lastMessage: PostgresQuery = """
        greatest(e.reopened_at,
            (select accepted_at from broadcasts where event_key = e.key order by accepted_at desc, id desc limit 1))
        """

    /// The columns that `startWindow` reads, of `event_starts s` and `events e`.
    static let startWindowColumns: PostgresQuery =
        "s.declaration as start, s.asked_at, e.starts_at, e.ends_at, \(lastMessage) as last_message_at"

    /// Says who gets the card of an event that was moved or opened again; empty: nobody has got one yet.
    func outlook(of key: EventKey, now: Date) async throws -> [String] {
        let rows = try await database.query(
            """
            select \(Self.startWindowColumns), s.stopped_at is not null as is_stopped, (
                    select count(*) from (
                        select id from start_runs where event_key = e.key offset 0) r
                    cross join lateral (
                        select from starts where run = r.id and state in ('accepted', 'unknown') offset 0) c)
                    as started
            from event_starts s join events e on e.key = s.event_key where e.key = \(key.rawValue)
            """)
        guard let row = rows.first, let window = try row.startWindow(), let started: Int = try row.decode("started"),
            started > 0
        else { return [] }
        let (start, isStopped): (Contract.StartDraft, Bool) = (try row.startDeclaration(), try row.decode("is_stopped"))
        return [start.outlook(window, started: started, isStopped: isStopped, at: now)]
    }
}

extension PostgresRow {
    fileprivate func startDeclaration() throws -> Contract.StartDraft {
        try JSONValue(decoding: decode(PostgresJSON.self, "start").bytes).decode()
    }

    /// The window of the start in a row with `EventStore.startWindowColumns`.
    ///
    /// - Parameter now: when the start is requested, if it was not requested before.
    func startWindow(askedAt now: Date? = nil) throws -> StartWindow? {
        StartWindow(
            try startDeclaration(), startsAt: try decode("starts_at"), endsAt: try decode("ends_at"),
            askedAt: try decode("asked_at") ?? now, lastMessageAt: try decode("last_message_at"))
    }
}

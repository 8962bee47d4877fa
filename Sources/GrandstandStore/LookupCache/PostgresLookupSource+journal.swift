package import Grandstand
internal import Postgres

/// The journal: a line for each transaction and subject. Snapshots tell which lines can be seen now and could not at an
/// earlier look; an order of numbers could not, for transactions do not commit in the order of their beginning.
extension PostgresLookupSource {
    package func position() async throws -> LookupPosition {
        try await changes(since: LookupPosition(text: "1:1:", floor: .max)).position
    }

    package func changes(
        since position: LookupPosition
    ) async throws -> (changes: [LookupChange], position: LookupPosition) {
        // Versions from `xmax` on are of another timeline, restored with a dump.
        let rows = try await database.query(
            """
            select s.snapshot::text as position, pg_snapshot_xmin(s.snapshot)::text as floor,
                j.version::text as version, j.subject
            from (select pg_current_snapshot() as snapshot) s left join lookup_journal j
            on j.version >= \(String(min(position.floor, UInt64(Int64.max))))::text::xid8
                and j.version < pg_snapshot_xmax(s.snapshot)
                and not pg_visible_in_snapshot(j.version, \(position.text)::text::pg_snapshot)
            """)
        guard let first = rows.first else { return ([], position) }
        let end = LookupPosition(
            text: try first.decode("position"), floor: UInt64(try first.decode(String.self, "floor")) ?? 0)
        let changes = try rows.compactMap { row -> LookupChange? in
            guard let version = try row.decode(String?.self, "version").flatMap({ UInt64($0) }),
                let subject = Self.subject(try row.decode(String.self, "subject"))
            else { return nil }
            return LookupChange(version: version, subject: subject)
        }
        return (changes, end)
    }

    package func tidy() async throws {
        try await database.query(
            "delete from lookup_journal where at < now() - make_interval(secs => \(Self.journalSeconds)::int)")
    }

    /// A replica that has not read the journal for so long reads everything.
    package static let journalSeconds = 300
}

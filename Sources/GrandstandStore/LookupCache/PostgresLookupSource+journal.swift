package import Grandstand
internal import Postgres

/// The journal: a row of `lookup_journal` for each transaction and subject. PostgreSQL snapshots show which rows became
/// visible since the last read. A sequence cannot, because transactions commit in another order than they begin.
extension PostgresLookupSource {
    package func position() async throws -> LookupPosition { try await changes(since: .newest).position }

    package func changes(
        since position: LookupPosition
    ) async throws -> (changes: [LookupChange], position: LookupPosition) {
        let rows = try await database.query(Self.lines(since: position, at: "s.snapshot::text"))
        let (changes, end) = try Self.read(rows) ?? ([], position)
        // A standby knows its age only from commits. If nothing changed and a standby is connected, commit once without
        // writing a row.
        if end.text == position.text {
            try await database.query("select pg_current_xact_id() where exists (select from pg_stat_replication)")
        }
        return (changes, end)
    }

    /// The same at a standby, with the server that answered. The server changes after a failover or a promotion.
    ///
    /// A standby's snapshot does not list running transactions. So the position is its xmin: rows may be read twice,
    /// but none is missed. The age is queried first, so that the data is at least as recent.
    func changesAtStandby(
        since position: LookupPosition
    ) async throws -> (changes: [LookupChange], position: LookupPosition, server: String) {
        let rows = try await database.pipeline([
            """
            select case when r.standby then coalesce(pg_last_xact_replay_timestamp(), to_timestamp(0)) end as as_of,
                concat_ws(' ', inet_server_addr(), inet_server_port(), pg_postmaster_start_time(), r.standby) as server
            from (select pg_is_in_recovery() as standby) r
            """,
            Self.lines(
                since: position,
                at: """
                    case when pg_is_in_recovery()
                    then concat(pg_snapshot_xmin(s.snapshot), ':', pg_snapshot_xmin(s.snapshot), ':')
                    else s.snapshot::text end
                    """),
        ])
        var (changes, end) = try Self.read(rows[1]) ?? ([], position)
        end.asOf = try rows[0][0].decode("as_of")
        return (changes, end, try rows[0][0].decode("server"))
    }

    /// - Parameter point: the journal's current position, as an SQL expression.
    private static func lines(since position: LookupPosition, at point: PostgresQuery) -> PostgresQuery {
        // Ignore versions from `xmax` on. This database has not reached them; they came from a restored dump.
        """
        select \(point) as position, pg_snapshot_xmin(s.snapshot)::text as floor,
            j.version::text as version, j.subject
        from (select pg_current_snapshot() as snapshot) s left join lookup_journal j
        on j.version >= \(String(min(position.floor, UInt64(Int64.max))))::text::xid8
            and j.version < pg_snapshot_xmax(s.snapshot)
            and not pg_visible_in_snapshot(j.version, \(position.text)::text::pg_snapshot)
        """
    }

    private static func read(_ rows: PostgresRows) throws -> (changes: [LookupChange], end: LookupPosition)? {
        guard let first = rows.first else { return nil }
        let end = LookupPosition(
            text: try first.decode("position"), floor: UInt64(try first.decode(String.self, "floor")) ?? 0)
        let changes = try rows.compactMap { row -> LookupChange? in
            guard let version = try row.decode(String?.self, "version").flatMap({ UInt64($0) }),
                let subject = subject(try row.decode(String.self, "subject"))
            else { return nil }
            return LookupChange(version: version, subject: subject)
        }
        return (changes, end)
    }

    package func tidy() async throws {
        try await database.query(
            "delete from lookup_journal where at < now() - make_interval(secs => \(Self.journalSeconds)::int)")
    }

    /// Seconds after which rows are deleted. A replica that has not read the journal for so long reads everything.
    package static let journalSeconds = 300
}

extension LookupPosition {
    /// A position after which nothing is new, used to ask for the journal's present position.
    static var newest: LookupPosition { LookupPosition(text: "1:1:", floor: .max) }
}

internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension PostgresStartStore {
    /// Ends a run that was closed. Stores the counts of followers without a start as they are now, because the set of
    /// followers changes later. If the run was opened again meanwhile, only its lease is ended.
    func end(_ run: Int, replica: UUID) async throws {
        let counted = try await reports.transaction { connection -> Missing? in
            try await connection.query("set transaction isolation level repeatable read")
            let rows = try await connection.query(
                """
                select r.app, e.topics, r.attributes_type
                from fan_outs r join events e on e.key = r.event_key where r.id = \(run)
                """)
            guard let row = rows.first else { return nil }
            return try await Self.missing(
                run: run, app: try row.decode("app"), topics: try row.decode("topics"),
                attributesType: try row.decode("attributes_type"), on: connection)
        }
        guard let missing = counted else { return }
        try await dispatch.query(
            """
            update fan_outs set leased_by = null, leased_until = null,
                due_at = case when closed_at is null then due_at end,
                too_old = case when closed_at is not null then \(missing.tooOld) end,
                disabled = case when closed_at is not null then \(missing.disabled) end,
                without_token = case when closed_at is not null then \(missing.withoutToken) end,
                too_late = case when closed_at is not null then \(missing.eligible) end
            where id = \(run) and leased_by = \(replica)
            """)
    }
}

internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension StartStore {
    /// Ends a run that was closed. When its event is over, stores the counts of followers without a start as they are
    /// now, because the set of followers changes later. Until then the run is looked at once a minute: reports count who
    /// came too late. If the run was opened again meanwhile, only its lease is ended.
    func end(_ run: Int, replica: UUID, now: Date) async throws {
        let counted = try await reports.transaction { connection -> Missing? in
            try await connection.query("set transaction isolation level repeatable read")
            let rows = try await connection.query(
                """
                select r.app, e.topics, r.attributes_type, e.ended_at is null and e.cancelled_at is null as is_open
                from start_runs r join events e on e.key = r.event_key where r.id = \(run)
                """)
            guard let row = rows.first, try !row.decode(Bool.self, "is_open") else { return nil }
            return try await Self.missing(
                run: run, app: try row.decode("app"), topics: try row.decode("topics"),
                attributesType: try row.decode("attributes_type"), on: connection)
        }
        try await dispatch.query(
            """
            update start_runs set leased_by = null, leased_until = null,
                due_at = case when closed_at is null then due_at
                    when \(counted == nil) then \(Self.nextLook(until: .distantFuture, now: now)) end,
                too_old = case when closed_at is not null then \(counted?.tooOld) end,
                disabled = case when closed_at is not null then \(counted?.disabled) end,
                without_token = case when closed_at is not null then \(counted?.withoutToken) end,
                too_late = case when closed_at is not null then \(counted?.eligible) end
            where id = \(run) and leased_by = \(replica)
            """)
    }
}

package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresOutbox {
    package func cancel(_ id: UUID, by actor: AuditActor, now: Date) async throws -> Bool? {
        try await calls.transaction { connection in
            let known = try await connection.query("select scheduled from broadcasts where id = \(id) for update")
            guard let row = known.first else { return nil }
            if try row.decode(Bool.self, "scheduled") {
                try await connection.pipeline([
                    "update broadcasts set scheduled = false where id = \(id)",
                    AuditRows(by: actor, at: now).withdrawal(of: id, wasScheduled: true),
                ])
                return true
            }
            try await connection.query(
                """
                select from lanes where id in (select lane from deliveries where broadcast_id = \(id))
                order by id for no key update
                """)
            let sent = try await connection.query(
                """
                select from deliveries where broadcast_id = \(id)
                    and (attempts > 0 or is_end or state not in ('waiting', 'queued', 'superseded', 'cancelled')) limit 1
                """)
            guard sent.isEmpty else { return false }
            let withdrawn = try await connection.query(
                """
                update deliveries set state = 'cancelled', settled_at = \(now), next_attempt_at = null
                where broadcast_id = \(id) and state in ('waiting', 'queued')
                """)
            if withdrawn.affectedRows > 0 {
                try await connection.query(AuditRows(by: actor, at: now).withdrawal(of: id, wasScheduled: false))
            }
            return true
        }
    }
}

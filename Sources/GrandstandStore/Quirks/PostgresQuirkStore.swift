internal import APNsWire
internal import FoundationEssentials
package import Grandstand
internal import Postgres

/// Quirks in the table `quirks`.
package struct PostgresQuirkStore: QuirkStore {
    let database: Database

    package init(_ database: Database) { self.database = database }

    package func quirks(of bundleID: BundleID) async throws -> [Quirk] {
        try await database.query(
            """
            select q.environment, q.name, q.value, q.learned_at, q.evidence from quirks q join apps a using (bundle_id)
            where a.topic = \(bundleID.topic) order by q.environment, q.name
            """
        ).map { row in
            Quirk(
                environment: try row.word("environment"), name: try row.word("name"), value: try row.decode("value"),
                learnedAt: try row.decode("learned_at"), evidence: try row.decode("evidence"))
        }
    }

    package func remember(_ quirk: Quirk, for app: AppEnvironment, by actor: AuditActor) async throws {
        try await database.transaction { connection in
            let rows = try await connection.query(
                """
                with before as (
                    select q.value from quirks q join apps a using (bundle_id)
                    where a.topic = \(app.bundleID.topic) and q.environment = \(quirk.environment.rawValue)::environment
                        and q.name = \(quirk.name.rawValue)
                )
                insert into quirks as q (bundle_id, environment, name, value, learned_at, evidence)
                select bundle_id, \(quirk.environment.rawValue)::environment, \(quirk.name.rawValue), \(quirk.value),
                    \(quirk.learnedAt), \(quirk.evidence)
                from apps where topic = \(app.bundleID.topic)
                on conflict (bundle_id, environment, name) do update
                    set value = excluded.value, learned_at = excluded.learned_at, evidence = excluded.evidence
                    where q.value <> excluded.value or \(actor != .server)
                returning coalesce((select value from before), \(quirk.name.documented)) <> q.value as is_new
                """)
            guard try rows.first?.decode(Bool.self, "is_new") == true else { return }
            let subject = AuditEntry.Subject(bundleID: app.bundleID, environment: app.environment)
            try await connection.query(
                AuditRows(by: actor, at: quirk.learnedAt).insert(
                    actor == .server ? .quirkLearned : .quirkSet, subject,
                    reason: "\(quirk.name.rawValue): \(quirk.value). \(quirk.evidence)"))
            if quirk.name == .broadcastFeature, !quirk.isDifference {
                try await connection.pipeline(
                    PostgresChannelStore.hasten(
                        app, refusedWith: APNsReason.broadcastFeatureNotEnabled.rawValue, now: quirk.learnedAt))
            }
        }
    }
}

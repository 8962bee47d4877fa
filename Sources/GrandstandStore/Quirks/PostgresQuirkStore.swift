internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// Quirks in the table `quirks`: a row is a conclusion, an examination under way, or both.
package struct PostgresQuirkStore: QuirkStore {
    let database: Database

    package init(_ database: Database) { self.database = database }

    package func quirks(of bundleID: BundleID) async throws -> [Quirk] {
        try await database.query(
            """
            select q.environment, q.name, q.value, q.learned_at, q.evidence, q.believed_until
            from quirks q join apps a using (bundle_id)
            where a.topic = \(bundleID.topic) and q.value is not null order by q.environment, q.name
            """
        ).map { row in
            Quirk(
                environment: try row.word("environment"), name: try row.word("name"), value: try row.decode("value"),
                learnedAt: try row.decode("learned_at"), evidence: try row.decode("evidence"),
                believedUntil: try row.decode("believed_until"))
        }
    }

    package func beginExamination(
        of name: Quirk.Name, for app: AppEnvironment, concludedSince since: Date, now: Date, leasedUntil: Date
    ) async throws -> ExaminationStart {
        try await database.transaction { connection in
            let begun = try await connection.query(
                """
                insert into quirks as q (bundle_id, environment, name, examining_until)
                select bundle_id, \(app.environment.rawValue)::environment, \(name.rawValue), \(leasedUntil)
                from apps where topic = \(app.bundleID.topic)
                on conflict (bundle_id, environment, name) do update set examining_until = excluded.examining_until
                where (q.examining_until is null or q.examining_until <= \(now))
                    and (q.value is null or q.believed_until is not null and q.learned_at <= \(since))
                returning q.name
                """)
            if !begun.isEmpty { return .begun }
            let rows = try await connection.query(
                """
                select q.value, q.learned_at > \(since) or q.believed_until is null as is_concluded
                from quirks q join apps a using (bundle_id)
                where a.topic = \(app.bundleID.topic) and q.environment = \(app.environment.rawValue)::environment
                    and q.name = \(name.rawValue)
                """)
            guard let row = rows.first else {
                throw Problem(.appNotFound, "There is no app \(app.bundleID).")
            }
            guard let value = try row.decode(String?.self, "value"), try row.decode(Bool?.self, "is_concluded") == true
            else { return .underWay }
            return .concluded(value)
        }
    }

    package func conclude(_ quirk: Quirk, for app: AppEnvironment, by actor: AuditActor) async throws {
        try await database.transaction { connection in
            try await Self.conclude(quirk, for: app, AuditRows(by: actor, at: quirk.learnedAt), on: connection)
        }
    }

    package func abandonExamination(of name: Quirk.Name, for app: AppEnvironment) async throws {
        try await database.query(
            """
            update quirks q set examining_until = null from apps a
            where a.topic = \(app.bundleID.topic) and q.bundle_id = a.bundle_id
                and q.environment = \(app.environment.rawValue)::environment and q.name = \(name.rawValue)
            """)
    }

    package func noteCapability(
        isOn: Bool, for app: AppEnvironment, evidence: String, isBroadcast: Bool, calledAt: Date, now: Date
    ) async throws {
        try await database.transaction { connection in
            let rows = try await connection.query(
                """
                select q.value = \(Quirk.BroadcastFeature.off.rawValue) as is_off, q.believed_until is not null
                    and q.learned_at <= \(calledAt) and (\(isBroadcast) or q.believed_until <= \(now)) as may_end
                from apps a left join quirks q on q.bundle_id = a.bundle_id
                    and q.environment = \(app.environment.rawValue)::environment
                    and q.name = \(Quirk.Name.broadcastFeature.rawValue)
                where a.topic = \(app.bundleID.topic)
                """)
            guard let row = rows.first else { return }
            let isOff = try row.decode(Bool?.self, "is_off") ?? false
            guard isOn ? try isOff && row.decode(Bool?.self, "may_end") ?? false : !isOff else { return }
            let value = isOn ? Quirk.BroadcastFeature.on : .off
            let quirk = Quirk(
                environment: app.environment, name: .broadcastFeature, value: value.rawValue, learnedAt: now,
                evidence: evidence,
                // When a creation may ask again.
                believedUntil: isOn || !isBroadcast
                    ? now : now.addingTimeInterval(PostgresChannelStore.probeInterval))
            try await Self.conclude(quirk, for: app, AuditRows(by: .server, at: now), on: connection)
        }
    }

    /// Keeps a conclusion, logs it when it says something new, and lets go what waited for it.
    static func conclude(
        _ quirk: Quirk, for app: AppEnvironment, _ audit: AuditRows, on connection: PostgresConnection
    ) async throws {
        let rows = try await connection.query(
            """
            with before as (
                select q.value from quirks q join apps a using (bundle_id)
                where a.topic = \(app.bundleID.topic) and q.environment = \(quirk.environment.rawValue)::environment
                    and q.name = \(quirk.name.rawValue)
            )
            insert into quirks as q (bundle_id, environment, name, value, learned_at, evidence, believed_until)
            select bundle_id, \(quirk.environment.rawValue)::environment, \(quirk.name.rawValue), \(quirk.value),
                \(quirk.learnedAt), \(quirk.evidence), \(quirk.believedUntil)
            from apps where topic = \(app.bundleID.topic)
            on conflict (bundle_id, environment, name) do update
                set value = excluded.value, learned_at = excluded.learned_at, evidence = excluded.evidence,
                    believed_until = excluded.believed_until, examining_until = null
            returning coalesce((select value from before), \(quirk.name.documented)) <> q.value as is_new
            """)
        guard try rows.first?.decode(Bool.self, "is_new") == true else { return }
        let subject = AuditEntry.Subject(bundleID: app.bundleID, environment: app.environment)
        try await connection.query(
            audit.insert(
                audit.actor == .server ? .quirkLearned : .quirkSet, subject,
                reason: "\(quirk.name.rawValue): \(quirk.value). \(quirk.evidence)"))
        if quirk.name == .broadcastFeature, !quirk.isDeparture {
            try await connection.pipeline([
                """
                update channels c set next_attempt_at = \(quirk.learnedAt)
                where \(AppColumns.isOf(app, row: "c"))
                    and c.state = 'failed' and c.reason = \(APNsReason.broadcastFeatureNotEnabled.rawValue)
                """,
                "select pg_notify(\(WakeTopic.channels.rawValue), '')",
            ])
        }
    }
}

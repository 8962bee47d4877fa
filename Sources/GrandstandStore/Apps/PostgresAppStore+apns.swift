internal import APNsWire
internal import FoundationEssentials
package import Grandstand
internal import JSON
internal import Postgres

/// What APNs' answers said about an app, in columns of `app_environments`.
extension PostgresAppStore: QuirkStore {
    package func remember(_ quirk: Quirk, for app: AppEnvironment) async throws {
        let (name, value) = (quirk.name.rawValue, quirk.value)
        let environment: PostgresQuery = "\(quirk.environment.rawValue)::environment"
        try await database.transaction { connection in
            let rows = try await connection.query(
                """
                with before as (
                    select ae.quirks -> \(name)::text ->> 'value' as value
                    from app_environments ae join apps a using (bundle_id)
                    where a.topic = \(app.bundleID.topic) and ae.environment = \(environment)
                )
                update app_environments ae set quirks = ae.quirks || jsonb_build_object(\(name)::text,
                    jsonb_build_object('value', \(value)::text, 'learned_at', \(RFC3339.text(quirk.learnedAt))::text,
                        'evidence', \(quirk.evidence)::text))
                from apps a
                where a.bundle_id = ae.bundle_id and a.topic = \(app.bundleID.topic) and ae.environment = \(environment)
                    and ae.quirks -> \(name)::text ->> 'value' is distinct from \(value)
                returning coalesce((select value from before), \(quirk.name.documented)) <> \(value) as is_new
                """)
            guard try rows.first?.decode(Bool.self, "is_new") == true else { return }
            let subject = AuditEntry.Subject(bundleID: app.bundleID, environment: app.environment)
            try await connection.query(
                AuditRows(by: .server, at: quirk.learnedAt).insert(
                    .quirkLearned, subject, reason: "\(name): \(value). \(quirk.evidence)"))
            if quirk.name == .broadcastFeature, !quirk.isDifference {
                try await connection.pipeline(
                    PostgresChannelStore.hasten(
                        app, refusedWith: APNsReason.broadcastFeatureNotEnabled.rawValue, now: quirk.learnedAt))
            }
        }
    }

    /// Records that APNs refuses a key; `nil`: that it accepts the key. If APNs refuses the key for several replicas,
    /// the time of the earliest refusal counts.
    package func note(_ refusal: KeyRefusal?, of use: KeyUse) async throws {
        let environment: PostgresQuery = "ae.environment = \(use.environment.rawValue)::environment"
        let (credentials, signer) = (use.credentials, use.credentials.signer)
        guard let refusal else {
            try await database.query(
                """
                update app_environments ae
                set key_refused = null, key_refused_reason = null, key_refused_since = null
                where ae.key_refused = \(signer) and \(environment)
                """)
            return
        }
        let (reason, since) = (refusal.reason.rawValue, refusal.since)
        try await database.query(
            """
            update app_environments ae set key_refused = \(signer), key_refused_reason = \(reason),
                key_refused_since = least(case when ae.key_refused = \(signer) then ae.key_refused_since end, \(since))
            from apps a
            where a.bundle_id = ae.bundle_id and coalesce(ae.team_id, a.team_id) = \(credentials.teamID)
                and coalesce(ae.key_id, a.key_id) = \(credentials.keyID) and \(environment)
                and (ae.key_refused is distinct from \(signer) or ae.key_refused_reason <> \(reason)
                    or ae.key_refused_since > \(since))
            """)
    }
}

extension Credentials {
    /// The value of `app_environments.key_refused`.
    fileprivate var signer: String { "\(teamID)/\(keyID)" }
}

extension PostgresRow {
    /// The refusal of the key that now signs for the app.
    ///
    /// - Parameter prefix: what the names of the columns begin with.
    func keyRefusal(of credentials: Credentials, _ prefix: String = "") throws -> KeyRefusal? {
        guard try decode(String?.self, "\(prefix)key_refused") == credentials.signer else { return nil }
        return KeyRefusal(
            reason: APNsReason(rawValue: try decode("\(prefix)key_refused_reason")),
            since: try decode("\(prefix)key_refused_since"))
    }

    /// The differences from APNs' documentation. A quirk whose value is the documented one is left out.
    func quirks(in environment: APNsEnvironment) throws -> [Quirk] {
        let stored = try JSONValue(parsing: try decode(PostgresJSON.self, "\(environment.rawValue)_quirks").bytes)
        let quirks = Quirk.Name.allCases.compactMap { name -> Quirk? in
            guard let quirk = stored[name.rawValue], let value = quirk["value"]?.string,
                let learnedAt = quirk["learned_at"]?.string.flatMap(RFC3339.date),
                let evidence = quirk["evidence"]?.string
            else { return nil }
            return Quirk(
                environment: environment, name: name, value: value, learnedAt: learnedAt, evidence: evidence)
        }
        return quirks.filter(\.isDifference).sorted { $0.name.rawValue < $1.name.rawValue }
    }
}

internal import APNsWire
package import FoundationEssentials
package import Grandstand
package import GrandstandContract
internal import JSON
internal import Postgres

/// What APNs' answers said about an app, in columns of `app_environments`.
extension AppStore {
    /// Stores a quirk in place of an earlier value. If the same value is learned twice, the first evidence stays. The
    /// documented value is stored only in place of another one.
    ///
    /// `broadcast-feature` with the value `off` is the alarm that an app's Broadcast capability is off. The value `on`
    /// ends the alarm. Creations that wait, among them those that were refused because the capability was off, are then
    /// due at once.
    package func remember(_ quirk: Contract.Quirk, for app: AppEnvironment) async throws {
        let (name, value) = (quirk.quirk.rawValue, quirk.value.rawValue)
        try await database.transaction { connection in
            let rows = try await connection.query(
                """
                update app_environments ae set quirks = ae.quirks || jsonb_build_object(\(name)::text,
                    jsonb_build_object('value', \(value)::text, 'evidence', \(quirk.evidence)::text,
                        'learned_at', \(RFC3339.text(quirk.learnedAt))::text))
                from apps a
                where a.bundle_id = ae.bundle_id and \(AppColumns.isOfTopic(app, row: "ae"))
                    and coalesce(ae.quirks -> \(name)::text ->> 'value',
                        \(quirk.quirk.documented?.rawValue)) is distinct from \(value)
                returning ae.bundle_id
                """)
            guard let row = rows.first else { return }
            let subject = AuditSubject(bundleID: app.bundleID, environment: app.environment)
            var statements = [
                AuditRows(by: .server, at: quirk.learnedAt).insert(
                    .quirkLearned, subject, reason: "\(name): \(value). \(quirk.evidence)")
            ]
            if quirk.quirk == .broadcastFeature, quirk.value == .off {
                let off = Contract.CapabilityOff(
                    bundleId: try row.decode("bundle_id"), environment: quirk.environment, evidence: quirk.evidence)
                statements.append(
                    WebhookNews.message(.capabilityOff, about: off.bundleId, at: quirk.learnedAt, off))
            }
            if quirk.quirk == .broadcastFeature, quirk.value == .on {
                statements += ChannelStore.hasten(app, now: quirk.learnedAt)
            }
            try await connection.pipeline(statements)
        }
    }

    /// Records that APNs refuses a key; `nil`: that it accepts the key. If APNs refuses the key for several replicas,
    /// the time of the first report counts.
    package func note(_ refusal: KeyRefusal?, of use: UsedKey) async throws {
        let place: PostgresQuery = "ae.environment = \(use.environment.rawValue)::environment"
        let (credentials, signer) = (use.credentials, use.credentials.signerID)
        guard let refusal else {
            try await database.query(
                """
                update app_environments ae
                set key_refused = null, key_refused_reason = null, key_refused_since = null
                where ae.key_refused = \(signer) and \(place)
                """)
            return
        }
        let (reason, since) = (refusal.reason.rawValue, refusal.since)
        try await database.query(
            """
            update app_environments ae set key_refused = \(signer), key_refused_reason = \(reason),
                key_refused_since =
                    case when ae.key_refused = \(signer) then ae.key_refused_since else \(since) end
            from apps a
            where a.bundle_id = ae.bundle_id and \(place)
                and coalesce(ae.team_id, a.team_id) = \(credentials.teamID)
                and coalesce(ae.key_id, a.key_id) = \(credentials.keyID)
                and (ae.key_refused is distinct from \(signer) or ae.key_refused_reason <> \(reason))
            """)
    }

    /// Seconds after which a key no longer counts as missing if no replica says so again.
    static let missingKeyLifetime: TimeInterval = 10

    /// Who signs for each app and environment.
    func signers() async throws -> [AppEnvironment: Credentials] {
        let rows = try await database.query(
            """
            select ae.bundle_id as "bundleID", ae.environment,
                coalesce(ae.team_id, a.team_id) as "teamID", coalesce(ae.key_id, a.key_id) as "keyID"
            from app_environments ae join apps a using (bundle_id) where ae.deleting_since is null
            """)
        return try rows.reduce(into: [:]) { signers, row in signers[try row.read()] = try row.read(Credentials.self) }
    }

    /// Seconds after which a broadcast that is due and not sent counts like one that failed.
    private static let overdueAfter: TimeInterval = 2
    /// Seconds after which nothing counts as unaccepted if no replica sees a failure any more. Longer than the pause
    /// between two attempts.
    static let unacceptedLifetime: TimeInterval = 60

    /// Stores what a replica saw since its last report.
    ///
    /// - Parameters:
    ///   - reports: when the newest message of an app was accepted, and since when all of them fail. An app may have
    ///     one for its broadcasts and one for its pushes to devices.
    ///   - lacking: the apps whose key files the replica lacks.
    package func noteReports(
        _ reports: [(app: AppEnvironment, acceptedAt: Date?, failingSince: Date?)], lacking: [AppEnvironment] = [],
        now: Date
    ) async throws {
        let overdue = now.addingTimeInterval(-Self.overdueAfter)
        let lapsed = now.addingTimeInterval(-Self.unacceptedLifetime)
        try await database.query(
            """
            with news as (
                select ae.bundle_id, ae.environment, r.accepted_at, w.since, m.app
                from app_environments ae left join lateral (
                    select max(accepted_at) as accepted_at, min(failing_since) as failing_since
                    from unnest(\(reports.map { $0.app.bundleID.rawValue }),
                        \(reports.map { $0.app.environment.rawValue }), \(reports.map { $0.acceptedAt }),
                        \(reports.map { $0.failingSince })) as r(app, place, accepted_at, failing_since)
                    where app = ae.bundle_id and place = ae.environment::text) r on true
                left join unnest(\(lacking.map(\.bundleID.rawValue)),
                    \(lacking.map(\.environment.rawValue))) as m(app, place)
                    on m.app = ae.bundle_id and m.place = ae.environment::text
                cross join lateral (select greatest(r.failing_since, (
                    select \(overdue)::timestamptz where r.failing_since is null and (exists (
                        select from audiences where environment = ae.environment and bundle_id = ae.bundle_id
                            and (due_at <= \(overdue) or tokens_due_at <= \(overdue)))
                        or exists (\(Self.waitingLanes(since: overdue)))))) as since) w
                where w.since is not null or m.app is not null
                    or r.accepted_at is not null and ae.unaccepted_since is not null
                order by ae.bundle_id, ae.environment for no key update of ae
            )
            update app_environments ae set
                unaccepted_since = case
                    when n.since is null and n.accepted_at is null then ae.unaccepted_since
                    when n.since is null then null
                    when n.accepted_at is not null then greatest(n.since, n.accepted_at)
                    when ae.unaccepted_at > \(lapsed) then coalesce(ae.unaccepted_since, n.since)
                    else n.since end,
                unaccepted_at = case when n.since is null then ae.unaccepted_at else \(now) end,
                key_missing_at = case when n.app is not null then \(now) else ae.key_missing_at end
            from news n where n.bundle_id = ae.bundle_id and n.environment = ae.environment
            """)
    }

    /// The lanes of an app `ae` whose messages wait because Apple does not create their channel. A quota without a free
    /// place has an alarm of its own, so lanes that wait for a place are left out.
    private static func waitingLanes(since: Date) -> PostgresQuery {
        """
        select from audiences u
        join channels c on c.event_key = u.event_key and \(AudienceColumns.serves("c", "u"))
        where u.environment = ae.environment and u.bundle_id = ae.bundle_id and u.channel is null
            and u.due_at is not null and c.state in \(Channel.State.sql(.intents))
            and c.created_at <= \(since) and coalesce(c.reason, '') not in \(ChannelStore.whyNoRoom)
        """
    }
}

extension Credentials {
    /// The value of `app_environments.key_refused`.
    fileprivate var signerID: String { "\(teamID)/\(keyID)" }
}

internal import APNsWire
package import FoundationEssentials
package import Grandstand
package import GrandstandContract
internal import Postgres

/// Apps in the tables `apps` and `app_environments`. Upper and lower case of bundle IDs are the same.
package struct AppStore: Sendable {
    let database: Database

    package init(_ database: Database) { self.database = database }

    /// Creates the app or replaces its registration.
    ///
    /// - Returns: whether it was created.
    /// - Throws: `app-exists` if another app's bundle ID differs only in case, or the app is being deleted;
    ///   `version-mismatch`.
    package func put(
        _ bundleID: BundleID, _ draft: Contract.AppDraft, by actor: AuditActor, if condition: WriteCondition = .none,
        now: Date
    ) async throws -> (app: Versioned<Contract.App>, created: Bool) {
        let created = try await database.transaction { connection in
            // Two writers check one after the other.
            try await connection.query("lock table apps in share row exclusive mode")
            let present = try await connection.query(
                """
                select bundle_id, version, exists (select from app_environments e
                    where e.bundle_id = a.bundle_id and e.deleting_since is not null) as is_deleted
                from apps a where topic = \(bundleID.topic) for update
                """
            ).first
            if let registered: BundleID = try present?.word("bundle_id"), registered != bundleID {
                throw Problem(
                    .appExists,
                    "The app is registered as \(registered). Use this spelling: capitals make no other topic.")
            }
            guard try present?.decode(Bool.self, "is_deleted") != true else {
                throw Problem(
                    .appExists,
                    "The app \(bundleID) was deleted, and its history is being removed. Register it anew later.",
                    retryAfter: 60)
            }
            try condition.check(try present?.decode("version"))
            let places = APNsEnvironment.allCases
            let overrides = places.map { draft.environments?[$0] }
            try await connection.pipeline([
                """
                insert into apps (bundle_id, name, team_id, key_id, channel_limit,
                    preview_compact, preview_expanded, created_at, updated_at)
                values (\(bundleID.rawValue), \(draft.name), \(draft.teamId), \(draft.keyId),
                    \(draft.channelLimit ?? APNsLimits.channels), \(draft.preview?.compact),
                    \(draft.preview?.expanded), \(now), \(now))
                on conflict (bundle_id) do update set name = excluded.name, team_id = excluded.team_id,
                    key_id = excluded.key_id, channel_limit = excluded.channel_limit,
                    preview_compact = excluded.preview_compact, updated_at = excluded.updated_at,
                    preview_expanded = excluded.preview_expanded, version = excluded.version
                """,
                """
                insert into app_environments (bundle_id, environment, team_id, key_id, reconciled_at)
                select \(bundleID.rawValue), r.environment::environment, r.team_id, r.key_id, \(now)
                from unnest(\(places.map(\.rawValue)), \(overrides.map { $0?.teamId }),
                    \(overrides.map { $0?.keyId })) as r(environment, team_id, key_id)
                order by r.environment on conflict (bundle_id, environment)
                do update set team_id = excluded.team_id, key_id = excluded.key_id
                """,
                AuditRows(by: actor, at: now).insert(
                    present == nil ? .appRegistered : .appChanged, .init(bundleID: bundleID)),
            ])
            return present == nil
        }
        return (try await existing(bundleID), created)
    }

    /// The app, also while it is being deleted. `APNsGateway.withKeyStates` adds the state of its key files.
    package func app(_ bundleID: BundleID) async throws -> Versioned<Contract.App>? {
        try await database.query("\(Self.selection) where a.topic = \(bundleID.topic)").first?.read()
    }

    /// The app with this bundle ID. Callers use this method where an unknown app would otherwise look like an app
    /// without data.
    ///
    /// - Throws: `app-not-found`, also while the app is being deleted.
    func registered(_ bundleID: BundleID) async throws -> Contract.App {
        let app = try await existing(bundleID).value
        guard app.deletingSince == nil else {
            throw Problem(.appNotFound, "The app \(bundleID) was deleted; its history is being removed.")
        }
        return app
    }

    /// The app with this bundle ID, also while it is being deleted.
    ///
    /// - Throws: `app-not-found`.
    func existing(_ bundleID: BundleID) async throws -> Versioned<Contract.App> {
        guard let app = try await app(bundleID) else { throw Problem.noApp(bundleID) }
        return app
    }

    /// Apps within `reach`, in order of their bundle IDs.
    package func apps(_ page: PageRequest, within reach: AppReach) async throws -> Contract.AppPage {
        let rows = try await database.query(
            """
            \(Self.selection) where (\(page.cursor)::text is null or a.bundle_id > \(page.cursor))
                and (\(reach.topics)::text[] is null or a.topic = any(\(reach.topics)))
            order by a.bundle_id limit \(page.limit + 1)
            """)
        return Contract.AppPage(rows: try rows.read(), limit: page.limit, cursor: \.bundleId)
    }

    private static let selection: PostgresQuery = """
        select a.bundle_id as "bundleId", a.topic, a.name, a.version, a.team_id as "teamId",
            a.key_id as "keyId", a.channel_limit as "channelLimit", a.created_at as "createdAt",
            a.preview_compact as "preview.compact", a.preview_expanded as "preview.expanded",
            a.updated_at as "updatedAt", '{}'::json as credentials, e.*, \(quirks) as quirks
        from apps a cross join lateral (
            select min(deleting_since) as "deletingSince",
                coalesce(json_object_agg(environment,
                    json_strip_nulls(json_build_object('teamId', team_id, 'keyId', key_id)))
                    filter (where team_id is not null or key_id is not null), '{}') as environments,
                coalesce(json_object_agg(environment, json_build_object(
                    'reason', key_refused_reason, 'since', \(WebhookNews.text("key_refused_since"))))
                    filter (where \(isKeyRefused)), '{}') as "credentialRefusals"
            from app_environments ae where ae.bundle_id = a.bundle_id) e
        """

    /// Whether APNs refuses the key that now signs for an app `a` in an environment `ae`.
    static let isKeyRefused: PostgresQuery =
        "ae.key_refused = coalesce(ae.team_id, a.team_id) || '/' || coalesce(ae.key_id, a.key_id)"

    /// How APNs differs from its documentation for an app `a`. A quirk whose value is the documented one is left out.
    private static let quirks: PostgresQuery = """
        coalesce((
            select json_agg(json_build_object('environment', e.environment, 'quirk', q.key, 'value', q.value ->> 'value',
                'learnedAt', q.value ->> 'learned_at', 'evidence', q.value ->> 'evidence')
                order by e.environment, q.key)
            from app_environments e cross join lateral jsonb_each(e.quirks) q
            join unnest(\(Contract.QuirkName.allCases.map(\.rawValue)),
                \(Contract.QuirkName.allCases.map { $0.documented?.rawValue })) as k(name, documented)
                on k.name = q.key
            where e.bundle_id = a.bundle_id and q.value ->> 'value' <> k.documented), '[]')
        """
}

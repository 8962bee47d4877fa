internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Webhooks in the table `webhooks`. `PostgresWebhookOutbox` has the messages that are posted to them.
struct PostgresWebhookStore: WebhookStore {
    let database: Database

    init(_ database: Database) { self.database = database }

    func create(
        _ draft: WebhookDraft, by actor: AuditActor, now: Date
    ) async throws -> (webhook: Webhook, secret: WebhookSecret) {
        let secret = WebhookSecret.random()
        let webhook = try await database.transaction { connection in
            let reach = try await Self.registered(draft.reach, on: connection)
            try await Self.admit(actor, declaring: reach, on: connection)
            try await Self.refuseTooMany(for: reach, on: connection)
            let row = try await connection.query(
                """
                insert into webhooks (id, url, description, topics, apps, declared_by, state, secret, created_at, updated_at)
                values (gen_random_uuid(), \(draft.url.rawValue), \(draft.description),
                    \(draft.topics.map(\.rawValue))::text[]::webhook_topic[], \(ReachColumns.value(reach)),
                    \(actor.keyID), \(Self.state(draft).rawValue)::text::webhook_state, \(secret.rawValue), \(now), \(now))
                returning \(Self.columns)
                """
            ).first
            let webhook = try Self.present(row.map(Self.webhook))
            try await connection.query(Self.audit(.webhookCreated, webhook, by: actor, now: now))
            return webhook
        }
        return (webhook, secret)
    }

    func replace(
        _ id: UUID, with draft: WebhookDraft, within bounds: WebhookFilter, by actor: AuditActor,
        if condition: WriteCondition, now: Date
    ) async throws -> Webhook? {
        try await database.transaction { connection in
            let reach = try await Self.registered(draft.reach, on: connection)
            try await Self.admit(actor, declaring: reach, on: connection)
            let known = try await connection.query(
                "select apps from webhooks where id = \(id) and \(Self.are(bounds))")
            guard let old = try known.first.map(ReachColumns.read) else { return nil }
            // A webhook that keeps its apps is not refused, however many webhooks these apps have.
            if old != reach { try await Self.refuseTooMany(for: reach, besides: id, on: connection) }
            let present = try await connection.query(
                "select version from webhooks where id = \(id) and \(Self.are(bounds)) for no key update")
            guard let version: Int = try present.first?.decode("version") else { return nil }
            try condition.check(version)
            let row = try await connection.query(
                """
                update webhooks set declared_by = case
                        when (url, topics, apps) is distinct from (\(draft.url.rawValue),
                            \(draft.topics.map(\.rawValue))::text[]::webhook_topic[],
                            \(ReachColumns.value(reach))::text[])
                        then \(actor.keyID)::uuid else declared_by end,
                    url = \(draft.url.rawValue), description = \(draft.description),
                    topics = \(draft.topics.map(\.rawValue))::text[]::webhook_topic[],
                    apps = \(ReachColumns.value(reach)),
                    reason = case when \(draft.isEnabled) then null else reason end,
                    failing_since = case when \(draft.isEnabled) and state = 'disabled' then null
                        else failing_since end,
                    state = \(Self.state(draft).rawValue)::text::webhook_state, updated_at = \(now),
                    version = nextval('resource_versions')
                where id = \(id) returning \(Self.columns)
                """
            ).first
            guard let webhook = try row.map(Self.webhook) else { return nil }
            try await connection.pipeline([
                Self.audit(.webhookChanged, webhook, by: actor, now: now),
                "select pg_notify(\(WakeTopic.webhooks.rawValue), '')",
            ])
            return webhook
        }
    }

    func delete(_ id: UUID, within bounds: WebhookFilter, by actor: AuditActor, now: Date) async throws -> Bool {
        try await database.transaction { connection in
            let row = try await connection.query(
                "delete from webhooks where id = \(id) and \(Self.are(bounds)) returning \(Self.columns)"
            ).first
            guard let webhook = try row.map(Self.webhook) else { return false }
            try await connection.query(Self.audit(.webhookDeleted, webhook, by: actor, now: now))
            return true
        }
    }

    func rotateSecret(
        of id: UUID, overlap: TimeInterval, within bounds: WebhookFilter, by actor: AuditActor, now: Date
    ) async throws -> (webhook: Webhook, secret: WebhookSecret)? {
        let secret = WebhookSecret.random()
        return try await database.transaction { connection in
            let row = try await connection.query(
                """
                update webhooks set secret = \(secret.rawValue), previous_secret = secret,
                    previous_secret_until = \(now.addingTimeInterval(overlap)), updated_at = \(now)
                where id = \(id) and \(Self.are(bounds)) returning \(Self.columns)
                """
            ).first
            guard let webhook = try row.map(Self.webhook) else { return nil }
            try await connection.query(Self.audit(.webhookRotated, webhook, by: actor, now: now))
            return (webhook, secret)
        }
    }

    /// Disables the webhooks that a key declared.
    ///
    /// - Returns: the webhooks that were enabled before.
    static func disable(
        declaredBy key: UUID, now: Date, on connection: PostgresConnection
    ) async throws -> [Webhook] {
        try await connection.query(
            """
            update webhooks set state = 'disabled', reason = 'The key that declared it was revoked.',
                updated_at = \(now), version = nextval('resource_versions')
            where declared_by = \(key) and state = 'enabled' returning \(columns)
            """
        ).map(webhook)
    }

    func webhook(_ id: UUID) async throws -> Webhook? {
        try await database.query("select \(Self.columns) from webhooks where id = \(id)").first.map(Self.webhook)
    }

    func webhooks(where filter: WebhookFilter, _ page: PageRequest) async throws -> Page<Webhook> {
        let part = try TimePage(page, by: "created_at", "id")
        let rows = try await database.query(
            """
            select \(Self.columns) from webhooks
            where \(Self.are(filter)) and \(part.condition)
            \(part.order)
            """)
        return part.page(try rows.map(Self.webhook)) { ($0.createdAt, $0.id) }
    }

    /// The condition that a row of `webhooks` matches the filter.
    static func are(_ filter: WebhookFilter) -> PostgresQuery {
        """
        topics <@ \(filter.topics.map(\.rawValue))::text[]::webhook_topic[]
            and \(ReachColumns.isWithin(filter.reach, of: "webhooks"))
            and \(filter.declaredBy.map { key -> PostgresQuery in "declared_by = \(key)" } ?? "true")
        """
    }

    /// Locks the writer's key until the commit. If the key was revoked before, this write is refused. If the key is
    /// revoked later, the revocation waits for the commit, and then finds this webhook among those that the key
    /// declared.
    ///
    /// - Throws: `unauthenticated`; `forbidden` for a key that may not access the apps now.
    private static func admit(
        _ actor: AuditActor, declaring reach: AppReach, on connection: PostgresConnection
    ) async throws {
        guard let id = actor.keyID else { return }
        let rows = try await connection.query(
            "select apps from api_keys where id = \(id) and revoked_at is null for share")
        guard let own = try rows.first.map(ReachColumns.read) else {
            throw Problem(.unauthenticated, "This key was revoked. Use another key.")
        }
        guard own.covers(reach) else { throw own.refusal }
    }

    /// The reach with the apps' bundle IDs as they were registered.
    private static func registered(_ reach: AppReach, on connection: PostgresConnection) async throws -> AppReach {
        guard let apps = reach.apps else { return .all }
        let pointer = apps.count == 1 ? "/bundleId" : "/bundleIds"
        return .only(
            try await ReachColumns.registered(apps, on: connection) { missing in
                Problem.invalid(
                    "The webhook is for an app that is not registered.", at: pointer,
                    "There is no app \(missing). Register it first.")
            })
    }

    /// Locks the table until the commit, so that two creations at the same time are counted one after the other. The
    /// app was locked before the table, because the removal of an app locks in this order, too.
    ///
    /// - Parameter id: the webhook that is not counted.
    private static func refuseTooMany(
        for reach: AppReach, besides id: UUID? = nil, on connection: PostgresConnection
    ) async throws {
        try await connection.query("lock table webhooks in share row exclusive mode")
        let rows = try await connection.query(
            """
            select r.app, count(*) as n from webhooks w
            left join lateral unnest(w.apps) as r(app) on true
            where w.id is distinct from \(id)::uuid
                and (r.app = any(\(ReachColumns.value(reach))::text[])
                    or \(ReachColumns.value(reach))::text[] is null and r.app is null)
            group by r.app having count(*) >= \(Webhook.limit) order by r.app limit 1
            """)
        guard let row = rows.first else { return }
        let app: String? = try row.decode("app")
        let whose = app.map { "The app \($0) has" } ?? "There are"
        throw Problem(
            .webhookLimit,
            "\(whose) \(try row.decode(Int.self, "n")) webhooks\(app == nil ? " for all apps" : ""), as many as there may "
                + "be. Delete one, or have one receiver pass its messages on.",
            members: [.limit(Webhook.limit)])
    }

    private static func state(_ draft: WebhookDraft) -> Webhook.State { draft.isEnabled ? .enabled : .disabled }

    /// Unwraps the row of a statement that always returns one.
    private static func present(_ webhook: Webhook?) throws -> Webhook {
        guard let webhook else { throw PostgresError(.decoding, "the webhook that was written did not come back") }
        return webhook
    }

    static func audit(
        _ action: AuditAction, _ webhook: Webhook, by actor: AuditActor, now: Date
    ) -> PostgresQuery {
        AuditRows(by: actor, at: now).insert(
            action, .init(bundleID: webhook.draft.reach.onlyApp),
            reason: "\(webhook.id.uuidString.lowercased()) \(webhook.draft.url.origin)")
    }

    static let columns: PostgresQuery = """
        id, url, description, topics::text[] as topics, apps, declared_by, state, reason,
        failing_since, previous_secret_until, created_at, updated_at, version
        """

    static func webhook(_ row: PostgresRow) throws -> Webhook {
        let state: Webhook.State = try row.word("state")
        let topics: [String] = try row.decode("topics")
        return Webhook(
            id: try row.decode("id"),
            draft: WebhookDraft(
                url: try row.word("url"), description: try row.decode("description"),
                topics: Set(topics.compactMap(WebhookTopic.init)), reach: try ReachColumns.read(row),
                isEnabled: state == .enabled),
            declaredBy: try row.decode("declared_by"), state: state, reason: try row.decode("reason"),
            failingSince: try row.decode("failing_since"),
            previousSecretUntil: try row.decode("previous_secret_until"), createdAt: try row.decode("created_at"),
            updatedAt: try row.decode("updated_at"), version: try row.decode("version"))
    }
}

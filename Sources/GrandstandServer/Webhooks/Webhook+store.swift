internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Webhooks as their owners declare them, in the table `webhooks`, and their messages (`+log`, `+queue`).
///
/// A caller sees the webhooks whose topics and apps its key may access. Each write checks this in its transaction, too.
struct WebhookStore: Sendable {
    let database: Database
    /// The networks that URLs may point to.
    var networks = NetworkGuard()
    let now: @Sendable () -> Date

    /// Creates a webhook and its secret. The secret cannot be read again.
    ///
    /// - Throws: `unauthenticated` or `forbidden` if the key was revoked meanwhile, or may no longer access the draft's
    ///   apps; `invalid-request` for an unknown app; `webhook-limit`.
    func create(_ draft: Contract.WebhookDraft, _ caller: APIKey) async throws -> Contract.IssuedWebhook {
        let secret = WebhookSecret.random()
        let webhook = try await put(UUID(), draft, secret, caller)
        return Contract.IssuedWebhook(secret: secret.rawValue, webhook.value)
    }

    /// Replaces the declaration of the webhook. Enabling a webhook clears its failures.
    ///
    /// - Throws: the errors of `webhook` and `create`; `version-mismatch`.
    func replace(_ id: UUID, with draft: Contract.WebhookDraft, if condition: WriteCondition, _ caller: APIKey)
        async throws -> Versioned<Contract.Webhook>
    {
        // Only a new webhook takes the secret.
        try await put(id, draft, .random(), caller, replacing: condition)
    }

    /// - Parameter condition: `nil`: the webhook is new.
    private func put(
        _ id: UUID, _ draft: Contract.WebhookDraft, _ secret: WebhookSecret, _ caller: APIKey,
        replacing condition: WriteCondition? = nil
    ) async throws -> Versioned<Contract.Webhook> {
        let now = now()
        return try await database.transaction { connection in
            let reach = try await Self.admit(caller, declaring: draft, on: connection)
            let old = condition == nil ? nil : try await Self.webhook(id, caller, on: connection)
            try condition?.check(old?.version)
            let apps = ReachColumns.value(reach)
            let full = try await connection.query(
                """
                select from webhooks left join lateral unnest(apps) as r(app) on true
                where id <> \(id)
                    and (app = any(\(apps)::text[]) or \(apps)::text[] is null and app is null)
                group by app having count(*) >= \(Contract.Webhook.appLimit)
                """)
            guard full.isEmpty else { throw Self.limitError }
            let webhook: Versioned<Contract.Webhook> = try await connection.query(
                """
                insert into webhooks as w (id, url, description, topics, apps, declared_by,
                    state, secret, created_at, updated_at)
                values (\(id), \(draft.url), \(draft.description),
                    \(draft.topics.map(\.rawValue))::text[]::webhook_topic[], \(apps), \(caller.id),
                    \(draft.enabled ?? true ? "enabled" : "disabled")::text::webhook_state,
                    \(secret.rawValue), \(now), \(now))
                on conflict (id) do update set
                    declared_by = case when (w.url, w.topics, w.apps)
                        is distinct from (excluded.url, excluded.topics, excluded.apps)
                        then excluded.declared_by else w.declared_by end,
                    url = excluded.url, description = excluded.description,
                    topics = excluded.topics, apps = excluded.apps, state = excluded.state,
                    updated_at = excluded.updated_at, version = excluded.version,
                    reason = case when excluded.state = 'disabled' then w.reason end,
                    failing_since = case when excluded.state = 'disabled' or w.state = 'enabled'
                        then w.failing_since end, failures = 0, silent_until = null
                returning \(Self.columns)
                """)[0].read()
            try await connection.pipeline([
                Self.audit(old == nil ? .webhookCreated : .webhookChanged, webhook.value, by: caller.actor, now: now),
                WakeUps.notify([.webhooks]),
            ])
            return webhook
        }
    }

    /// Deletes the webhook and its log.
    ///
    /// - Throws: the errors of `webhook`.
    func delete(_ id: UUID, _ caller: APIKey) async throws {
        _ = try await change(id, caller, .webhookDeleted, "delete from webhooks")
    }

    /// Gives the webhook a new secret. For `overlap` seconds (`nil`: a day), messages also carry the signature of the
    /// old secret.
    ///
    /// - Throws: the errors of `webhook`.
    func rotateSecret(of id: UUID, overlap: Int?, _ caller: APIKey) async throws -> Contract.IssuedWebhook {
        let (secret, now) = (WebhookSecret.random(), now())
        let webhook = try await change(
            id, caller, .webhookRotated,
            """
            update webhooks set secret = \(secret.rawValue), previous_secret = secret,
                previous_secret_until = \(now + Double(overlap ?? 86_400)), updated_at = \(now)
            """)
        return Contract.IssuedWebhook(secret: secret.rawValue, webhook)
    }

    /// Changes or deletes the webhook, and logs it.
    private func change(_ id: UUID, _ caller: APIKey, _ action: Contract.AuditAction, _ statement: PostgresQuery)
        async throws -> Contract.Webhook
    {
        try await database.transaction { connection in
            _ = try await Self.webhook(id, caller, "for no key update", on: connection)
            let webhook: Contract.Webhook = try await connection.query(
                "\(statement) where id = \(id) returning \(Self.columns)")[0].read()
            try await connection.query(Self.audit(action, webhook, by: caller.actor, now: now()))
            return webhook
        }
    }

    /// Disables those of the webhooks `which` that are enabled.
    ///
    /// - Returns: the statements that log this, one for each webhook.
    static func disable(
        _ which: PostgresQuery, by actor: AuditActor, now: Date, on connection: PostgresConnection,
        because reason: String
    ) async throws -> [PostgresQuery] {
        try await connection.query(
            """
            update webhooks set state = 'disabled', reason = \(reason), updated_at = \(now),
                version = nextval('resource_versions')
            where \(which) and state = 'enabled' returning \(columns)
            """
        ).read().map { audit(.webhookDisabled, $0, by: actor, now: now) }
    }

    func webhook(_ id: UUID, _ caller: APIKey) async throws -> Versioned<Contract.Webhook> {
        try await Self.webhook(id, caller, on: database)
    }

    /// - Parameter lock: a clause that locks the webhook's row until the commit. `for key share` also keeps it from being
    ///   deleted.
    /// - Throws: `webhook-not-found`, also if the key may not access all apps of the webhook; `forbidden` if the key
    ///   may not read all topics of the webhook.
    static func webhook(_ id: UUID, _ caller: APIKey, _ lock: PostgresQuery = "", on connection: some PostgresQuerying)
        async throws -> Versioned<Contract.Webhook>
    {
        let webhook: Versioned<Contract.Webhook>? = try await connection.query(
            "select \(columns) from webhooks where id = \(id) \(lock)"
        ).first?.read()
        guard let webhook, caller.reach.covers(webhook.value.reach) else {
            throw Problem(.webhookNotFound, "There is no webhook \(id.text).")
        }
        guard webhook.value.topics.allSatisfy(caller.maySubscribe) else {
            throw Problem(.forbidden, "The key lacks a scope for some topics of this webhook.")
        }
        return webhook
    }

    /// The webhooks, the oldest first.
    ///
    /// - Parameter key: returns only the webhooks that this key declared; `nil`: no restriction.
    func list(_ page: PageRequest, declaredBy key: UUID? = nil, _ caller: APIKey) async throws
        -> Contract.Page<Contract.Webhook>
    {
        let heard = Contract.WebhookTopic.allCases.filter(caller.maySubscribe).map(\.rawValue)
        return try await database.page(
            page,
            of: """
                select \(Self.columns) from webhooks
                where topics <@ \(heard)::text[]::webhook_topic[]
                    and \(ReachColumns.isWithin(caller.reach, of: "webhooks"))
                    and (\(key)::uuid is null or declared_by = \(key))
                """)
    }

    /// Locks the draft's apps, the writer's key and the table until the commit. If the key was revoked before, this write
    /// is refused. If it is revoked later, the revocation waits for the commit, and then finds this webhook among those
    /// that the key declared. Two writes at the same time are counted one after the other. The apps are locked before the
    /// table, because the removal of an app locks in this order, too.
    ///
    /// - Returns: the reach with the apps' bundle IDs as they were registered.
    /// - Throws: `invalid-request` for an unknown app; `unauthenticated`; `forbidden` for a key that may not access the
    ///   apps now.
    private static func admit(
        _ caller: APIKey, declaring draft: Contract.WebhookDraft, on connection: PostgresConnection
    ) async throws -> AppReach {
        var reach = AppReach.all
        if let apps = draft.bundleIds?.compactMap(BundleID.init) {
            let pointer = apps.count == 1 ? "/bundleId" : "/bundleIds"
            reach = .only(
                try await ReachColumns.lockRegistered(apps, on: connection) { missing in
                    Problem.invalid(
                        "The webhook is for an app that is not registered.", at: pointer,
                        "There is no app \(missing). Register it first.")
                })
        }
        let rows = try await connection.query(
            "select apps from api_keys where id = \(caller.id) and revoked_at is null for share")
        guard let own = try rows.first.map(ReachColumns.read) else {
            throw Problem(.unauthenticated, "This key was revoked. Use another key.")
        }
        guard own.covers(reach) else { throw own.refusal }
        try await connection.query("lock table webhooks in share row exclusive mode")
        return reach
    }

    private static let limitError = Problem(
        .webhookLimit,
        "An app may have \(Contract.Webhook.appLimit) webhooks, and as many more may be for all apps. "
            + "Delete one, or have one receiver pass its messages on."
    ) { $0.limit = Contract.Webhook.appLimit }

    private static func audit(
        _ action: Contract.AuditAction, _ webhook: Contract.Webhook, by actor: AuditActor, now: Date
    ) -> PostgresQuery {
        AuditRows(by: actor, at: now).insert(
            action, .init(bundleID: webhook.reach.onlyApp),
            reason: "\(webhook.id) \(WebhookURL(rawValue: webhook.url)?.origin ?? "")"
                + (action == .webhookDisabled ? ": \(webhook.reason ?? "")" : ""))
    }

    private static let columns: PostgresQuery = """
        id, url, description, topics::text[] as topics, apps as "bundleIds",
        case when cardinality(apps) = 1 then apps[1] end as "bundleId",
        declared_by as "declaredBy", state = 'enabled' as enabled, reason,
        failing_since as "failingSince", previous_secret_until as "previousSecretUntil",
        created_at as "createdAt", updated_at as "updatedAt", version
        """
}

extension Contract.Webhook {
    /// The most webhooks whose reach names the same app, and also the most webhooks whose reach is all apps. Each
    /// message is posted to every webhook that wants it, so without a limit a caller could have every broadcast posted
    /// any number of times.
    static let appLimit = 20

    /// A webhook that failed every time for this many seconds is disabled. It has five days, because the retries of one
    /// message take three days.
    static let disableAfter: TimeInterval = 5 * 86_400

    /// The webhook gets only messages about these apps and their events.
    fileprivate var reach: AppReach { AppReach(named: bundleIds) }
}

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
    /// Returns why messages to a URL would be refused; `nil`: they would be sent. The decision depends on the addresses
    /// that the URL's host name resolves to now.
    var refusal: @Sendable (WebhookURL) async -> String? = { _ in nil }
    let now: @Sendable () -> Date

    /// Creates a webhook and its secret. The secret cannot be read again.
    ///
    /// - Throws: `unauthenticated` or `forbidden` if the key was revoked meanwhile, or may no longer access the draft's
    ///   apps; `invalid-request` for an unknown app, or an address that may not be called; `webhook-limit`.
    func create(_ draft: Contract.WebhookDraft, _ caller: APIKey) async throws -> Contract.IssuedWebhook {
        try await requireAddress(draft.url)
        let (secret, now) = (WebhookSecret.random(), now())
        return try await database.transaction { connection in
            let reach = try await Self.registered(draft.reach, on: connection)
            try await Self.admit(caller, declaring: reach, on: connection)
            try await Self.refuseTooMany(for: reach, on: connection)
            let row = try await connection.query(
                """
                insert into webhooks (id, url, description, topics, apps, declared_by, state, secret, created_at, updated_at)
                values (gen_random_uuid(), \(draft.url), \(draft.description), \(Self.topics(draft)),
                    \(ReachColumns.value(reach)), \(caller.id), \(Self.state(draft)), \(secret.rawValue), \(now),
                    \(now))
                returning \(Self.columns)
                """
            ).first
            guard let webhook = try row?.read(Contract.Webhook.self) else {
                throw PostgresError(.decoding, "the webhook that was written did not come back")
            }
            try await connection.query(Self.audit(.webhookCreated, webhook, by: caller.actor, now: now))
            return Contract.IssuedWebhook(secret: secret.rawValue, webhook)
        }
    }

    /// Replaces the declaration of the webhook. Enabling a webhook clears its failures.
    ///
    /// - Throws: the errors of `webhook` and `create`; `webhook-limit` for an app that already has too many webhooks;
    ///   `version-mismatch`.
    func replace(
        _ id: UUID, with draft: Contract.WebhookDraft, if condition: WriteCondition, _ caller: APIKey
    ) async throws -> Versioned<Contract.Webhook> {
        if try await webhook(id, caller).value.url != draft.url { try await requireAddress(draft.url) }
        let now = now()
        return try await database.transaction { connection in
            let reach = try await Self.registered(draft.reach, on: connection)
            try await Self.admit(caller, declaring: reach, on: connection)
            let known = try await connection.query("select apps from webhooks where \(Self.is(id, caller))")
            guard let old = try known.first.map(ReachColumns.read) else { throw Problem.webhookNotFound(id) }
            // A webhook that keeps its apps is not refused, however many webhooks these apps have.
            if old != reach { try await Self.refuseTooMany(for: reach, besides: id, on: connection) }
            let present = try await connection.query(
                "select version from webhooks where \(Self.is(id, caller)) for no key update")
            guard let version: Int = try present.first?.decode("version") else { throw Problem.webhookNotFound(id) }
            try condition.check(version)
            let isEnabled = draft.enabled ?? true
            let row = try await connection.query(
                """
                update webhooks set declared_by = case
                        when (url, topics, apps) is distinct from (\(draft.url), \(Self.topics(draft)),
                            \(ReachColumns.value(reach))::text[])
                        then \(caller.id)::uuid else declared_by end,
                    url = \(draft.url), description = \(draft.description), topics = \(Self.topics(draft)),
                    apps = \(ReachColumns.value(reach)), reason = case when \(isEnabled) then null else reason end,
                    failing_since = case when \(isEnabled) and state = 'disabled' then null else failing_since end,
                    state = \(Self.state(draft)), updated_at = \(now), version = nextval('resource_versions')
                where id = \(id) returning \(Self.columns)
                """
            ).first
            guard let webhook = try row?.read(Versioned<Contract.Webhook>.self) else {
                throw Problem.webhookNotFound(id)
            }
            try await connection.pipeline([
                Self.audit(.webhookChanged, webhook.value, by: caller.actor, now: now),
                "select pg_notify(\(WakeTopic.webhooks.rawValue), '')",
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
    private func change(
        _ id: UUID, _ caller: APIKey, _ action: Contract.AuditAction, _ statement: PostgresQuery
    ) async throws -> Contract.Webhook {
        _ = try await webhook(id, caller)
        return try await database.transaction { connection in
            let row = try await connection.query(
                "\(statement) where \(Self.is(id, caller)) returning \(Self.columns)"
            ).first
            guard let webhook = try row?.read(Contract.Webhook.self) else { throw Problem.webhookNotFound(id) }
            try await connection.query(Self.audit(action, webhook, by: caller.actor, now: now()))
            return webhook
        }
    }

    /// Disables the webhooks that a key declared.
    ///
    /// - Returns: the statements that log this, one for each webhook that was enabled before.
    static func disable(
        declaredBy key: UUID, by actor: AuditActor, now: Date, on connection: PostgresConnection
    ) async throws -> [PostgresQuery] {
        try await connection.query(
            """
            update webhooks set state = 'disabled', reason = 'The key that declared it was revoked.',
                updated_at = \(now), version = nextval('resource_versions')
            where declared_by = \(key) and state = 'enabled' returning \(columns)
            """
        ).read().map { audit(.webhookDisabled, $0, by: actor, now: now) }
    }

    /// - Throws: `webhook-not-found`, also if the key may not access all apps of the webhook; `forbidden` if the key
    ///   may not read all topics of the webhook.
    func webhook(_ id: UUID, _ caller: APIKey) async throws -> Versioned<Contract.Webhook> {
        let row = try await database.query("select \(Self.columns) from webhooks where id = \(id)").first
        guard let webhook = try row?.read(Versioned<Contract.Webhook>.self), caller.reach.covers(webhook.value.reach)
        else {
            throw Problem.webhookNotFound(id)
        }
        guard webhook.value.topics.allSatisfy(caller.hears) else {
            throw Problem(.forbidden, "The key \(caller.name) lacks a scope for some topics of this webhook.")
        }
        return webhook
    }

    /// The webhooks, the oldest first.
    ///
    /// - Parameter key: returns only the webhooks that this key declared; `nil`: no restriction.
    func list(
        _ page: PageRequest, declaredBy key: UUID? = nil, _ caller: APIKey
    ) async throws -> Contract.Page<Contract.Webhook> {
        let part = try TimePage(page, by: "created_at", "id")
        let rows = try await database.query(
            """
            select \(Self.columns) from webhooks
            where \(Self.are(caller)) and (\(key)::uuid is null or declared_by = \(key)) and \(part.condition)
            \(part.order)
            """)
        return part.page(try rows.read()) { ($0.createdAt, $0.id) }
    }

    /// The condition that a row of `webhooks` is this webhook, and that the caller may see it.
    static func `is`(_ id: UUID, _ caller: APIKey) -> PostgresQuery { "id = \(id) and \(are(caller))" }

    /// The condition that the caller may see a row of `webhooks`.
    private static func are(_ caller: APIKey) -> PostgresQuery {
        """
        topics <@ \(Contract.WebhookTopic.allCases.filter(caller.hears).map(\.rawValue))::text[]::webhook_topic[]
            and \(ReachColumns.isWithin(caller.reach, of: "webhooks"))
        """
    }

    /// Locks the writer's key until the commit. If the key was revoked before, this write is refused. If the key is
    /// revoked later, the revocation waits for the commit, and then finds this webhook among those that the key
    /// declared.
    ///
    /// - Throws: `unauthenticated`; `forbidden` for a key that may not access the apps now.
    private static func admit(
        _ caller: APIKey, declaring reach: AppReach, on connection: PostgresConnection
    ) async throws {
        let rows = try await connection.query(
            "select apps from api_keys where id = \(caller.id) and revoked_at is null for share")
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
            group by r.app having count(*) >= \(Contract.Webhook.limit) order by r.app limit 1
            """)
        guard let row = rows.first else { return }
        let app: String? = try row.decode("app")
        let whose = app.map { "The app \($0) has" } ?? "There are"
        throw Problem(
            .webhookLimit,
            "\(whose) \(try row.decode(Int.self, "n")) webhooks\(app == nil ? " for all apps" : ""), as many as there may "
                + "be. Delete one, or have one receiver pass its messages on.",
            members: [.limit(Contract.Webhook.limit)])
    }

    /// Refuses a host name whose addresses may not be called. A host name without an address is accepted, because it
    /// may get an address later.
    private func requireAddress(_ url: String) async throws {
        guard let url = WebhookURL(rawValue: url), let reason = await refusal(url) else { return }
        throw Problem.invalid("Messages to this URL would be refused. \(reason)", at: "/url", reason)
    }

    private static func state(_ draft: Contract.WebhookDraft) -> PostgresQuery {
        draft.enabled ?? true ? "'enabled'" : "'disabled'"
    }

    private static func topics(_ draft: Contract.WebhookDraft) -> PostgresQuery {
        "\(draft.topics.map(\.rawValue))::text[]::webhook_topic[]"
    }

    private static func audit(
        _ action: Contract.AuditAction, _ webhook: Contract.Webhook, by actor: AuditActor, now: Date
    ) -> PostgresQuery {
        AuditRows(by: actor, at: now).insert(
            action, .init(bundleID: webhook.reach.onlyApp),
            reason: "\(webhook.id) \(WebhookURL(rawValue: webhook.url)?.origin ?? "")")
    }

    private static let columns: PostgresQuery = """
        id, url, description, topics::text[] as topics, case when cardinality(apps) = 1 then apps[1] end as "bundleId",
        apps as "bundleIds", declared_by as "declaredBy", state = 'enabled' as enabled, reason,
        failing_since as "failingSince", previous_secret_until as "previousSecretUntil", created_at as "createdAt",
        updated_at as "updatedAt", version
        """
}

extension Contract.Webhook {
    /// The most webhooks whose reach names the same app, and also the most webhooks whose reach is all apps. Each
    /// message is posted to every webhook that wants it, so without a limit a caller could have every broadcast posted
    /// any number of times.
    static let limit = 20

    /// A webhook that failed every time for this many seconds is disabled. It has five days, because the retries of one
    /// message take three days.
    static let patience: TimeInterval = 5 * 86_400

    /// The webhook gets only messages about these apps and their events.
    fileprivate var reach: AppReach { AppReach(of: bundleIds?.compactMap(BundleID.init)) }
}

extension Contract.WebhookDraft {
    /// The declaration of a webhook as a body that changes nothing.
    init(_ webhook: Contract.Webhook) {
        self.init(
            url: webhook.url, description: webhook.description, topics: webhook.topics, bundleIds: webhook.bundleIds,
            enabled: webhook.enabled)
    }

    fileprivate var reach: AppReach { AppReach(of: bundleIds?.compactMap(BundleID.init)) }
}

extension Problem {
    static func webhookNotFound(_ id: UUID) -> Problem {
        Problem(.webhookNotFound, "There is no webhook \(id.words).")
    }
}

internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Logging
internal import Postgres

/// The table `webhook_messages` as the loop that posts uses it. A claimed message is posted, is tried again over days,
/// and is given up in the end.
extension WebhookStore {
    /// Leases messages that are due. Apps with the fewest messages under way come first, then the messages that are due
    /// longest.
    ///
    /// - Parameters:
    ///   - perWebhook: the most messages of one webhook that may be under way at a time. If the last message of a webhook
    ///     failed, only one may be under way.
    ///   - perApp: the most messages that may be under way at a time for all webhooks with the same set of apps together.
    ///     So receivers that do not answer cannot delay the messages of other apps.
    ///
    /// None of the messages of a webhook that pauses is claimed, except test messages and replays, which people requested.
    func claim(
        _ limit: Int, by replica: UUID, at now: Date, until end: Date, perWebhook: Int = 4, perApp: Int = 16
    ) async throws -> [WebhookClaim] {
        let due: PostgresQuery = """
            d.webhook = w.id and d.settled_at is null and d.next_attempt_at <= \(now)
            order by d.next_attempt_at limit greatest(0, w.share - w.taken) for update of d skip locked
            """
        return try await database.query(
            """
            with places as materialized (
                select *, sum(taken) over (partition by apps) as taken_by_apps from (
                    select id, apps, state = 'enabled' and coalesce(silent_until <= \(now), true) as is_open,
                        case when failing_since is null then \(perWebhook) else 1 end as share, (
                        select count(*) from webhook_messages f
                        where f.webhook = webhooks.id and f.settled_at is null and f.state = 'sending'
                            and f.next_attempt_at > \(now)) as taken
                    from webhooks) w
            ), waiting as (
                select p.*, w.apps, w.taken_by_apps,
                    w.taken + row_number() over (partition by w.id order by p.next_attempt_at) as turn
                from places w cross join lateral (
                    select * from (
                        select d.id, d.next_attempt_at from webhook_messages d
                        where w.is_open and \(due)) open
                    union all
                    -- What people requested, by an index of its own, so the backlog of the webhook is not read.
                    select * from (
                        select d.id, d.next_attempt_at from webhook_messages d
                        where not w.is_open and (d.topic = 'webhook.test' or d.attempts > 0 and d.tries = 0)
                            and \(due)) requested) p
            ), due as (
                select id from (
                    select id, next_attempt_at,
                        taken_by_apps + row_number() over (partition by apps order by turn, next_attempt_at) as place
                    from waiting) ranked
                where place <= \(perApp) order by place, next_attempt_at limit \(limit)
            ), leased as (
                update webhook_messages d set state = 'sending', attempts = d.attempts + 1,
                    tries = d.tries + 1, next_attempt_at = \(end), leased_by = \(replica)
                from due where d.id = due.id returning d.*
            )
            select d.id, d.webhook, 'msg_' || d.message as name, w.url, d.body,
                d.attempts::bigint as attempts, d.tries::bigint as tries, array_remove(array[
                    w.secret, case when w.previous_secret_until > \(now) then w.previous_secret end
                ], null) as secrets
            from leased d join webhooks w on w.id = d.webhook
            """
        ).read()
    }

    /// Sets the end of this replica's leases on these messages to `until`, because the replica still posts them.
    func extendLeases(of messages: [UUID], replica: UUID, until: Date) async throws {
        try await database.query(
            """
            update webhook_messages set next_attempt_at = \(until)
            where id = any(\(messages)) and state = 'sending' and leased_by = \(replica)
            """)
    }

    /// Records a verdict. If another replica has the lease by now, nothing changes. A webhook that wants no more
    /// messages, or failed for `Contract.Webhook.disableAfter`, is disabled.
    func settle(
        _ message: WebhookClaim, _ verdict: WebhookVerdict, _ attempt: Contract.WebhookAttempt, replica: UUID, now: Date
    ) async throws {
        try await database.transaction { connection in
            let rows = try await connection.query(
                """
                update webhook_messages set state = \(verdict.state.rawValue)::text::webhook_delivery_state,
                    next_attempt_at = \(verdict.retryAt), leased_by = null,
                    log = log || \(PostgresJSON(bytes: JSONWriter.text(attempt)))::jsonb,
                    settled_at = case when \(verdict.retryAt == nil) then \(now) end
                where id = \(message.id) and state = 'sending' and leased_by = \(replica) returning id
                """)
            if !rows.isEmpty { try await Self.apply(message.webhook, verdict, now: now, on: connection) }
        }
    }

    /// Applies the verdict to the webhook itself. An accepted message writes its row only after failures.
    private static func apply(
        _ webhook: UUID, _ verdict: WebhookVerdict, now: Date, on connection: PostgresConnection
    ) async throws {
        let (hasFailed, isFailing) = (verdict.reason != nil, verdict.isFailing)
        // From the fifth failure on, it pauses for 1 to 30 seconds.
        try await connection.query(
            """
            update webhooks set
                failing_since = case when \(hasFailed) then coalesce(failing_since, \(now)) end,
                failures = case when \(isFailing) then failures + 1 else 0 end,
                silent_until = case when \(isFailing) and failures >= 4 then \(now)::timestamptz
                    + least(30, power(2, least(failures, 9) - 4)) * interval '1 second' end
            where id = \(webhook) and (\(hasFailed) or failing_since is not null)
            """)
        guard let why = verdict.reason else { return }
        let ends: PostgresQuery =
            verdict.isGone ? "true" : "failing_since <= \(now - Contract.Webhook.disableAfter)"
        var statements = try await disable(
            "id = \(webhook) and \(ends)", by: .server, now: now, on: connection,
            because: verdict.isGone ? why : "every message failed for five days; last: \(why)")
        if verdict.isGone {
            statements.append(
                """
                update webhook_messages
                set state = 'cancelled', settled_at = \(now), next_attempt_at = null
                where webhook = \(webhook) and state = 'queued'
                """)
        }
        try await connection.pipeline(statements)
    }
}

/// A leased message, ready to be posted.
struct WebhookClaim: Sendable, Decodable {
    var id: UUID
    var webhook: UUID
    /// The message's ID as the header `webhook-id` has it, the same in every try and every replay.
    var name: String
    var url: WebhookURL
    /// The secrets, the current one first.
    var secrets: [WebhookSecret]
    var body: RawJSON
    /// Attempts of all rounds, including the next one; `tries`: those since the message was queued or last replayed.
    var attempts: Int
    var tries: Int
}

/// Claims messages for webhooks, posts them and records the verdicts. Receivers may be slow, gone or hostile.
struct WebhookLoop {
    let webhooks: WebhookStore
    let gateway: any WebhookGateway
    /// Messages whose posts take longer than its drain stay leased, and are posted again when their leases end.
    let worker: Worker

    func run() async {
        // A post waits for its receiver and costs little else, so there are many slots.
        let loop = WorkLoop<WebhookClaim>(
            .init(
                slots: 256, pollInterval: worker.pollInterval, retry: .milliseconds(500), topic: .webhooks),
            failure: "messages for webhooks could not be claimed", worker,
            claim: { free, _ in
                let claimed = try await webhooks.claim(
                    free, by: worker.replica, at: worker.now(), until: worker.leasedUntil)
                // The poll of each second finds what is due then. Messages that were not claimed because all places of
                // their webhook or app are taken are claimed when a post ends, because that wakes the loop.
                return await .claimed(claimed) { nil }
            }, perform: post,
            extend: { messages in
                try await webhooks.extendLeases(
                    of: messages.map(\.id), replica: worker.replica, until: worker.leasedUntil)
            })
        await loop.run()
    }

    private func post(_ message: WebhookClaim) async -> WorkLoop<WebhookClaim>.Settling? {
        let (startedAt, clock) = (worker.now(), ContinuousClock.now)
        let answer = await gateway.post(message)
        if Task.isCancelled { return nil }
        let verdict = WebhookVerdict(
            answer, tries: message.tries, now: worker.now(), jitter: .random(in: 0..<1))
        if verdict.state == .failed {
            worker.logger.warning(
                "message to a webhook failed for good",
                metadata: [
                    "webhook": "\(message.webhook.text)", "message": "\(message.name)",
                    "reason": "\(verdict.reason ?? "")",
                ])
        }
        let attempt = Contract.WebhookAttempt(
            attempt: message.attempts, at: startedAt,
            milliseconds: Int((.now - clock) / .milliseconds(1)),
            status: verdict.status, reason: verdict.reason)
        return {
            try await webhooks.settle(
                message, verdict, attempt, replica: worker.replica, now: worker.now())
            if verdict.state != .queued {
                worker.counting(.webhookPosted(isDelivered: verdict.state == .delivered))
            }
        }
    }
}

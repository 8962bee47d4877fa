internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Messages for webhooks in the tables `webhook_messages` and `webhook_deliveries`.
struct PostgresWebhookOutbox: WebhookOutbox {
    let database: Database

    init(_ database: Database) { self.database = database }

    func claim(_ claim: WebhookClaim) async throws -> [ClaimedWebhook] {
        let now = claim.at
        return try await database.query(
            """
            with places as materialized (
                select *, sum(taken) over (partition by apps) as taken_by_apps from (
                    select id, apps, state, case when failing_since is null then \(claim.perWebhook) else 1 end as share, (
                        select count(*) from webhook_deliveries f
                        where f.webhook = webhooks.id and f.settled_at is null and f.state = 'sending'
                            and f.next_attempt_at > \(now)) as taken
                    from webhooks) w
            ), waiting as (
                select p.*, w.apps, w.taken_by_apps,
                    w.taken + row_number() over (partition by w.id order by p.next_attempt_at) as turn
                from places w cross join lateral (
                    select d.id, d.next_attempt_at from webhook_deliveries d join webhook_messages m on m.id = d.message
                    where d.webhook = w.id and d.settled_at is null and d.next_attempt_at <= \(now)
                        and (w.state = 'enabled' and w.id <> all(\(claim.avoiding))
                            or m.topic = 'webhook.test' or d.attempts > 0 and d.tries = 0)
                        and m.topic::text = any(\(WebhookTopic.allCases.map(\.rawValue)))
                    order by d.next_attempt_at limit greatest(0, w.share - w.taken)
                    for update of d skip locked) p
            ), due as (
                select id from (
                    select id, next_attempt_at,
                        taken_by_apps + row_number() over (partition by apps order by turn, next_attempt_at) as place
                    from waiting) ranked
                where place <= \(claim.perApp) order by place, next_attempt_at limit \(claim.limit)
            ), leased as (
                update webhook_deliveries d set state = 'sending', attempts = d.attempts + 1, tries = d.tries + 1,
                    next_attempt_at = \(claim.leasedUntil), leased_by = \(claim.replica)
                from due where d.id = due.id returning d.*
            )
            select d.id, d.webhook, d.message, m.topic, w.url, w.secret,
                case when w.previous_secret_until > \(now) then w.previous_secret end as previous_secret, m.body,
                d.tries::bigint as tries
            from leased d join webhooks w on w.id = d.webhook join webhook_messages m on m.id = d.message
            """
        ).map { row in
            ClaimedWebhook(
                id: try row.decode("id"), webhook: try row.decode("webhook"), message: try row.decode("message"),
                topic: try row.word("topic"), url: try row.word("url"),
                secrets: [try row.word("secret")] + (try row.optionalWord("previous_secret").map { [$0] } ?? []),
                body: Array(try row.decode(String.self, "body").utf8), tries: try row.decode("tries"))
        }
    }

    func extendLeases(of deliveries: [UUID], replica: UUID, until: Date) async throws {
        try await database.query(
            """
            update webhook_deliveries set next_attempt_at = \(until)
            where id = any(array(
                select id from webhook_deliveries
                where id = any(\(deliveries)) and state = 'sending' and leased_by = \(replica)
                order by id for update skip locked))
            """)
    }

    func release(_ deliveries: [UUID], replica: UUID, now: Date) async throws {
        try await database.transaction { connection in
            _ = try await connection.pipeline([
                """
                update webhook_deliveries set state = 'queued', attempts = attempts - 1, tries = tries - 1,
                    next_attempt_at = \(now), leased_by = null
                where id = any(\(deliveries)) and state = 'sending' and leased_by = \(replica)
                """,
                "select pg_notify(\(WakeTopic.webhooks.rawValue), '')",
            ])
        }
    }

    func nextDue() async throws -> Date? {
        try await database.query(
            """
            select min(d.next_attempt_at) as at from webhooks w cross join lateral (
                select next_attempt_at from webhook_deliveries
                where webhook = w.id and settled_at is null order by next_attempt_at limit 1) d
            where w.state = 'enabled'
            """
        ).first?.decode(Date?.self, "at")
    }
}

internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The durable queue of messages to webhooks, in the tables `webhook_messages` and `webhook_deliveries`. The facts of a
/// message are recorded in the transaction of the change that it reports. A claimed message is posted, is tried again
/// over days, and is given up in the end.
struct WebhookOutbox: Sendable {
    let database: Database

    /// Leases messages that are due. Apps with the fewest messages under way come first, then the messages that are due
    /// longest.
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
                        and m.topic::text = any(\(Contract.WebhookMessageType.allCases.map(\.rawValue)))
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
            select d.id, d.webhook, 'msg_' || d.message as name, m.topic, w.url, w.secret,
                case when w.previous_secret_until > \(now) then w.previous_secret end as previous_secret, m.body,
                d.tries::bigint as tries
            from leased d join webhooks w on w.id = d.webhook join webhook_messages m on m.id = d.message
            """
        ).map { row in
            ClaimedWebhook(
                id: try row.decode("id"), webhook: try row.decode("webhook"), name: try row.decode("name"),
                topic: try row.word("topic"), url: try row.word("url"),
                secrets: [try row.word("secret")] + (try row.optionalWord("previous_secret").map { [$0] } ?? []),
                body: Array(try row.decode(String.self, "body").utf8), tries: try row.decode("tries"))
        }
    }

    /// Sets the end of this replica's leases on these messages to `until`, because the replica still posts them.
    /// Messages that another transaction has locked are skipped.
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

    /// Ends the leases of messages that were not posted. The attempt does not count.
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

    /// When the next message is due; `nil`: none waits.
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

/// A dispatcher's claim of messages for webhooks.
struct WebhookClaim: Sendable {
    var replica: UUID
    var at: Date
    var leasedUntil: Date
    /// The most messages to lease.
    var limit: Int
    /// The most messages of one webhook that may be under way at a time. If the last message of a webhook failed, only
    /// one may be under way.
    var perWebhook: Int
    /// The most messages that may be under way at a time for all webhooks with the same set of apps together. So
    /// receivers that do not answer cannot delay the messages of other apps.
    var perApp: Int
    /// Webhooks whose receivers do not answer. None of their messages is claimed, except test messages and replays,
    /// which people requested.
    var avoiding: [UUID] = []
}

/// A leased message, ready to be posted.
struct ClaimedWebhook: Sendable {
    /// The ID of the delivery.
    var id: UUID
    var webhook: UUID
    /// The message's ID as the header `webhook-id` has it, the same in every try and every replay.
    var name: String
    var topic: Contract.WebhookMessageType
    var url: WebhookURL
    /// The secrets, the current one first.
    var secrets: [WebhookSecret]
    var body: [UInt8]
    /// Attempts since the message was queued or last replayed, including the next one.
    var tries: Int
}

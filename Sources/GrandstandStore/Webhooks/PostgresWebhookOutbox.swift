package import FoundationEssentials
package import Grandstand
internal import Postgres

/// Messages for webhooks in the tables `webhook_messages` and `webhook_deliveries`.
package struct PostgresWebhookOutbox: WebhookOutbox {
    let database: Database

    package init(_ database: Database) { self.database = database }

    package func compose(now: Date, limit: Int) async throws -> Int {
        let rows = try await database.query(
            """
            with taken as (
                delete from webhook_settlements where id in (
                    select id from webhook_settlements order by id limit \(limit) for update skip locked)
                returning broadcast_id
            ), settled as (
                select b.* from broadcasts b where b.id in (select broadcast_id from taken) and not b.scheduled
                    and not exists (select from deliveries d where d.broadcast_id = b.id and d.settled_at is null)
            ), told as (
                select count(tell_webhooks('broadcast.settled', coalesce(t.settled_at, \(now)), t.app,
                    json_build_object('id', b.id, 'eventKey', b.event_key, 'channel', b.channel, 'event', b.event,
                        'state', case when b.cancelled or t.is_cancelled then 'cancelled' else 'done' end, 'acceptedAt', webhook_time(b.accepted_at),
                        'settledAt', webhook_time(coalesce(t.settled_at, \(now))), 'counts', c.counts,
                        'reasons', c.reasons), b.id))
                from settled b
                cross join lateral (
                    -- An event concerns one app while all its audiences are that one, and so does what was sent.
                    select max(d.settled_at) as settled_at, bool_and(d.state = 'cancelled') as is_cancelled, case
                        when b.event_key is null and count(distinct l.bundle_id) = 1 then min(l.bundle_id)
                        when count(l.bundle_id) = count(l.bundle_id) filter (where l.bundle_id = p.app) then p.app end as app
                    from (
                        select case when count(distinct u.bundle_id) = 1 then min(u.bundle_id) end as app
                        from audiences u where u.event_key = b.event_key) p
                    left join (deliveries d join lanes l on l.id = d.lane) on d.broadcast_id = b.id
                    group by p.app) t
                cross join lateral (
                    select (select coalesce(json_object_agg(s.state, s.n), '{}') from (
                            select state, count(*) as n from deliveries where broadcast_id = b.id
                            group by state order by state) s) as counts,
                        (select coalesce(json_object_agg(s.reason, s.n), '{}') from (
                            select reason, count(*) as n from deliveries
                            where broadcast_id = b.id and state in ('rejected', 'expired') and reason is not null
                            group by reason order by reason) s) as reasons) c
            )
            select (select count(*) from taken) as taken, (select * from told) as told
            """)
        return try rows.first?.decode(Int.self, "taken") ?? 0
    }

    package func claim(
        now: Date, leasedUntil: Date, replica: UUID, limit: Int, perWebhook: Int
    ) async throws -> [ClaimedWebhook] {
        try await database.query(
            """
            with due as (
                select p.id from webhooks w cross join lateral (
                    select d.id, d.next_attempt_at from webhook_deliveries d join webhook_messages m on m.id = d.message
                    where d.webhook = w.id and d.settled_at is null and d.next_attempt_at <= \(now)
                        and (w.state = 'enabled' or m.topic = 'webhook.test' or d.attempts > 0 and d.tries = 0)
                    order by d.next_attempt_at limit greatest(0, \(perWebhook) - (
                        select count(*) from webhook_deliveries f
                        where f.webhook = w.id and f.state = 'sending' and f.next_attempt_at > \(now)))
                    for update of d skip locked) p
                order by p.next_attempt_at limit \(limit)
            ), leased as (
                update webhook_deliveries d set state = 'sending', attempts = d.attempts + 1, tries = d.tries + 1,
                    next_attempt_at = \(leasedUntil), leased_by = \(replica)
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

    package func release(_ deliveries: [UUID], replica: UUID, now: Date) async throws {
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

    package func nextDue() async throws -> Date? {
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

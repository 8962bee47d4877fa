internal import FoundationEssentials
internal import Grandstand
internal import Postgres

extension InstallationRows {
    /// The statements that write changes back, in one round trip. Old tokens are deleted before new ones are inserted,
    /// so that a token never belongs to two installations.
    ///
    /// - Returns: the statements. If installations began to follow after a start was opened (late followers), the last
    ///   statement queues them in the runs that are still open.
    static func write(_ changes: Changes, at now: Date) -> [PostgresQuery] {
        var statements: [PostgresQuery] = []
        if !changes.created.isEmpty { statements.append(insert(changes.created)) }
        if !changes.updated.isEmpty {
            statements += [update(changes.updated), pace(changes.updated)]
        }
        if !changes.oldTokens.isEmpty {
            statements.append(remember(delete(changes.oldTokens), closedAfter: now.addingTimeInterval(-day)))
        }
        if !changes.newTokens.isEmpty { statements.append(insert(inOrder(changes.newTokens))) }
        if !changes.unfollowed.isEmpty { statements.append(delete(changes.unfollowed)) }
        if !changes.followed.isEmpty { statements.append(insert(changes.followed)) }
        if !changes.newTokens.isEmpty { statements.append(inherit(changes.newTokens, at: now)) }
        if !changes.takeovers.isEmpty { statements.append(carryOver(changes.takeovers, at: now)) }
        if !changes.followers.isEmpty { statements.append(queue(changes.followers, at: now)) }
        return statements
    }

    private static func insert(_ created: [(key: InstallationKey, record: Register.Record)]) -> PostgresQuery {
        let details = created.map(\.record.details)
        return """
            insert into installations (app, installation, secret_hash, sequence, system_version, app_version, locale,
                variant, time_zone, live_activities_enabled, frequent_pushes_enabled, created_at, seen_at,
                tokens_paced_until)
            select app, installation, secret_hash, sequence, system_version, app_version, locale, variant, time_zone,
                live_activities_enabled, frequent_pushes_enabled, seen_at, seen_at, tokens_paced_until
            from unnest(\(created.map { Int32($0.key.app) }), \(created.map(\.key.id)),
                \(created.map { PostgresBytes($0.record.secret.bytes) }), \(details.map(\.sequence)),
                \(details.map { Int32($0.systemVersion.number) }), \(details.map(\.appVersion)), \(details.map(\.locale)),
                \(details.map(\.variant?.rawValue)), \(details.map(\.timeZone)),
                \(details.map(\.liveActivitiesEnabled)), \(details.map(\.frequentPushesEnabled)),
                \(created.map(\.record.seenAt)), \(created.map(\.record.tokensPacedUntil)))
                as r(app, installation, secret_hash, sequence, system_version, app_version, locale, variant, time_zone,
                    live_activities_enabled, frequent_pushes_enabled, seen_at, tokens_paced_until)
            """
    }

    private static func update(_ records: [Register.Record]) -> PostgresQuery {
        let rows = records.compactMap(\.row)
        let details = records.map(\.details)
        return """
            update installations i set sequence = r.sequence, system_version = r.system_version,
                app_version = r.app_version, locale = r.locale, variant = r.variant, time_zone = r.time_zone,
                live_activities_enabled = r.live_activities_enabled,
                frequent_pushes_enabled = r.frequent_pushes_enabled, seen_at = r.seen_at,
                tokens_paced_until = r.tokens_paced_until
            from unnest(\(rows), \(details.map(\.sequence)), \(details.map { Int32($0.systemVersion.number) }),
                \(details.map(\.appVersion)), \(details.map(\.locale)), \(details.map(\.variant?.rawValue)),
                \(details.map(\.timeZone)),
                \(details.map(\.liveActivitiesEnabled)), \(details.map(\.frequentPushesEnabled)),
                \(records.map(\.seenAt)), \(records.map(\.tokensPacedUntil)))
                as r(id, sequence, system_version, app_version, locale, variant, time_zone, live_activities_enabled,
                    frequent_pushes_enabled, seen_at, tokens_paced_until)
            where i.id = r.id and i.id = any(\(rows))
            """
    }

    /// Copies an installation's choice about frequent pushes to its activities. Crowds read the choice from the
    /// activities.
    private static func pace(_ records: [Register.Record]) -> PostgresQuery {
        let rows = records.compactMap(\.row)
        return """
            update activities a set frequent = r.frequent
            from unnest(\(rows), \(records.map(\.details.frequentPushesEnabled))) as r(installation, frequent)
            where a.installation = r.installation and a.installation = any(\(rows)) and a.frequent <> r.frequent
            """
    }

    /// Deletes exactly these tokens of their former holders. If a holder got its token after the locks were taken, the
    /// holder is not locked and may have registered another token meanwhile. That other token stays.
    private static func delete(_ tokens: [(row: Int, type: String, token: DeviceToken)]) -> PostgresQuery {
        let rows = tokens.map(\.row)
        return """
            delete from start_tokens t
            using unnest(\(rows), \(tokens.map(\.type)), \(tokens.map { PostgresBytes($0.token.bytes) }))
                as r(installation, attributes_type, token)
            where t.installation = r.installation and t.attributes_type = r.attributes_type and t.token = r.token
                and t.installation = any(\(rows))
            returning t.installation, t.attributes_type, t.app, t.token
            """
    }

    /// Tokens in the order of the unique index, so that transactions that wait for each other's tokens cannot deadlock.
    private static func inOrder(
        _ tokens: [(key: InstallationKey, type: String, token: RegisteredToken)]
    ) -> [(key: InstallationKey, type: String, token: RegisteredToken)] {
        tokens.sorted { one, other in
            guard (one.key.app, one.type) == (other.key.app, other.type) else {
                return (one.key.app, one.type) < (other.key.app, other.type)
            }
            return one.token.token.bytes.lexicographicallyPrecedes(other.token.token.bytes)
        }
    }

    private static func insert(
        _ tokens: [(key: InstallationKey, type: String, token: RegisteredToken)]
    ) -> PostgresQuery {
        """
        insert into start_tokens (installation, attributes_type, app, token, registered_at)
        select i.id, n.attributes_type, n.app, n.token, n.registered_at
        from unnest(\(tokens.map { Int32($0.key.app) }), \(tokens.map(\.key.id)), \(tokens.map(\.type)),
                \(tokens.map { PostgresBytes($0.token.token.bytes) }), \(tokens.map(\.token.registeredAt)))
                as n(app, installation, attributes_type, token, registered_at)
            cross join lateral (
                select id from installations where app = n.app and installation = n.installation offset 0) i
        """
    }

    private static func delete(_ topics: [(row: Int, topic: Topic)]) -> PostgresQuery {
        let rows = topics.map(\.row)
        return """
            delete from follows f using unnest(\(rows), \(topics.map(\.topic.rawValue))) as r(installation, topic)
            where f.installation = r.installation and f.topic = r.topic and f.installation = any(\(rows))
            """
    }

    private static func insert(_ topics: [(key: InstallationKey, topic: Topic)]) -> PostgresQuery {
        """
        insert into follows (installation, topic, app)
        select i.id, n.topic, n.app
        from unnest(\(topics.map { Int32($0.key.app) }), \(topics.map(\.key.id)), \(topics.map(\.topic.rawValue)))
                as n(app, installation, topic)
            cross join lateral (
                select id from installations where app = n.app and installation = n.installation offset 0) i
        """
    }

    // MARK: Starts under way

    /// Seconds for which a run that was closed may open again: a stopped start may be resumed, or an event declared or
    /// opened again.
    private static let day: TimeInterval = 86_400

    private static func runs(of app: PostgresQuery, closedAfter date: Date) -> PostgresQuery {
        """
        select id, attributes_type from fan_outs
        where app = \(app) and policy = 'start' and (closed_at is null or closed_at > \(date)) offset 0
        """
    }

    /// Notes tokens that their installations lose with the starts that these installations got (`inherit`).
    ///
    /// - Parameter lost: rows with installation, attributes_type, app and token.
    static func remember(_ lost: PostgresQuery, closedAfter date: Date) -> PostgresQuery {
        """
        with lost as (\(lost))
        update starts s set token = sha256(l.token) from lost l
        cross join lateral (\(runs(of: "l.app", closedAfter: date))) r
        where s.run = r.id and s.installation = l.installation and r.attributes_type = l.attributes_type
        """
    }

    /// An installation that registers a token counts as started in each run in which an installation that lost this
    /// token counts as started: both are on one phone. The start of an installation that was deleted moves to the new
    /// one, so that it is counted once.
    private static func inherit(
        _ tokens: [(key: InstallationKey, type: String, token: RegisteredToken)], at now: Date
    ) -> PostgresQuery {
        """
        with known as (
            select s.run, s.installation, i.id as heir, s.state, s.reason, s.at
            from unnest(\(tokens.map { Int32($0.key.app) }), \(tokens.map(\.key.id)),
                \(tokens.map { PostgresBytes($0.token.token.bytes) })) as n(app, installation, token)
            cross join lateral (
                select id from installations where app = n.app and installation = n.installation offset 0) i
            cross join lateral (\(runs(of: "n.app", closedAfter: now.addingTimeInterval(-day)))) r
            cross join lateral (select * from starts where run = r.id and token = sha256(n.token) offset 0) s
            where s.installation <> i.id
        ), moved as (
            delete from starts s using known k where s.run = k.run and s.installation = k.installation
                and not exists (select from installations where id = k.installation)
        )
        insert into starts (run, installation, state, reason, at)
        select distinct on (run, heir) run, heir, state, reason, at from known order by run, heir, state = 'rejected'
        on conflict (run, installation) do nothing
        """
    }

    /// If a run is open and the former holder of a token has no result, a push to the former holder may be under way at
    /// this moment. So the new holder is queued together with the IDs of the former holders. The claim that takes
    /// the new holder from the queue checks these former holders. No run is locked here, because otherwise anybody
    /// could stop a start by changing tokens.
    private static func carryOver(_ takeovers: [Changes.Takeover], at now: Date) -> PostgresQuery {
        let pairs: PostgresQuery = """
            unnest(\(takeovers.map { Int32($0.app) }), \(takeovers.map(\.from)), \(takeovers.map(\.to)))
                as t(app, old, new)
            cross join lateral (
                select id from installations where app = t.app and installation = t.old offset 0) o
            cross join lateral (
                select id from installations where app = t.app and installation = t.new offset 0) n
            """
        return """
            insert into fan_out_queue as q (run, member, due_at, former)
            select r.id, n.id, \(now), array_agg(f) from \(pairs)
            cross join lateral (
                select id from fan_outs where app = t.app and policy = 'start' and closed_at is null offset 0) r
            left join lateral (
                select former from fan_out_queue where run = r.id and member = o.id offset 0) h on true
            cross join lateral unnest(array_append(h.former, o.id)) f
            where not exists (select from starts where run = r.id and installation = n.id)
            group by n.id, r.id order by n.id, r.id
            on conflict (member, run) do update set due_at = least(q.due_at, excluded.due_at),
                former = array(select distinct unnest(q.former || excluded.former))
            """
    }

    /// Queues late followers in each open run that they follow and have a token for, unless they already had the run's
    /// start. A push that APNs refused does not count as a start: the run may repeat the start to another token.
    private static func queue(
        _ followers: [(key: InstallationKey, record: Register.Record)], at now: Date
    ) -> PostgresQuery {
        let topics = followers.reduce(into: Set<Topic>()) { $0.formUnion($1.record.details.topics) }
        return """
            insert into fan_out_queue as q (run, member, due_at)
            select r.id, i.id, \(now) from \(rows(followers.map(\.key.app), followers.map(\.key.id)))
            cross join lateral (
                select id, topics, attributes_type from fan_outs
                where app = n.app and policy = 'start' and closed_at is null and topics && \(topics.map(\.rawValue).sorted()) offset 0) r
            where exists (select from follows f where f.installation = i.id and f.topic = any(r.topics))
                and exists (
                    select from start_tokens t where t.installation = i.id and t.attributes_type = r.attributes_type)
                and not exists (
                    select from starts s where s.run = r.id and s.installation = i.id and s.state <> 'rejected')
            order by i.id, r.id
            on conflict (member, run) do update set due_at = least(q.due_at, excluded.due_at)
            """
    }
}

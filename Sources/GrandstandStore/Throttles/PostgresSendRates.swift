package import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// The rates that replicas learned for apps that APNs throttles, in the table `send_rates`: a row for each app,
/// environment, API and replica.
package struct PostgresSendRates: Sendable {
    private let database: Database

    package init(_ database: Database) { self.database = database }

    /// An arbitrary constant for the lock.
    private static let key = 7_230_518_204_417_740

    /// Seconds after which a row that was not written again belongs to a replica that is gone.
    private static let lifetime: TimeInterval = 5

    /// Writes the rates that this replica has learned in an environment, in place of the rates that it wrote before.
    /// Reads the rates of the other replicas. Webhooks are told when an app gets its first row and when its last row is
    /// deleted.
    ///
    /// - Returns: all rates that are known now, including this replica's.
    package func exchange(
        _ rates: [LearnedRate], of replica: UUID, in environment: APNsEnvironment
    ) async throws -> [LearnedRate] {
        if rates.isEmpty {
            // Usually there is nothing to write. This case takes no lock.
            let rows = try await database.query(Self.rows(in: environment))
            let known = try rows.map { try Self.rate($0) }
            let isClean = try rows.allSatisfy { try $0.decode("is_fresh") }
            if isClean, !known.contains(where: { $0.replica == replica }) { return known }
        }
        return try await database.transaction { connection in
            // Only one replica writes at a time, so that only one replica reports that throttling of an app began or
            // ended.
            try await connection.query("select pg_advisory_xact_lock(\(Self.key))")
            let results = try await connection.pipeline([
                Self.write(rates, of: replica, in: environment), Self.rows(in: environment),
            ])
            return try results[1].map { try Self.rate($0) }
        }
    }

    private static func rows(in environment: APNsEnvironment) -> PostgresQuery {
        """
        select bundle_id, api, replica, rate, since, throttled_at,
            written_at > clock_timestamp() - make_interval(secs => \(lifetime)) as is_fresh
        from send_rates where environment = \(environment.rawValue)::environment
        """
    }

    private static func rate(_ row: PostgresRow) throws -> LearnedRate {
        LearnedRate(
            bundleID: try row.word("bundle_id"), api: try row.word("api"), replica: try row.decode("replica"),
            perSecond: try row.decode("rate"), since: try row.decode("since"),
            throttledAt: try row.decode("throttled_at"))
    }

    /// Every CTE of the statement sees the table as it was before the statement.
    private static func write(
        _ rates: [LearnedRate], of replica: UUID, in environment: APNsEnvironment
    ) -> PostgresQuery {
        let environment: PostgresQuery = "\(environment.rawValue)::environment"
        return """
            with mine as (
                select * from unnest(\(rates.map(\.bundleID.rawValue)), \(rates.map(\.api.rawValue)),
                    \(rates.map(\.perSecond)), \(rates.map(\.since)), \(rates.map(\.throttledAt)))
                    as m(bundle_id, api, rate, since, throttled_at)
                where exists (select from app_environments ae
                    where ae.bundle_id = m.bundle_id and ae.environment = \(environment))
            ), gone as (
                delete from send_rates s where s.environment = \(environment)
                    and case when s.replica = \(replica)
                        then not exists (select from mine m where m.bundle_id = s.bundle_id and m.api = s.api)
                        else s.written_at <= clock_timestamp() - make_interval(secs => \(lifetime)) end
                returning s.*
            ), written as (
                insert into send_rates (bundle_id, environment, api, replica, rate, since, throttled_at, written_at)
                select bundle_id, \(environment), api, \(replica), rate, since, throttled_at, clock_timestamp() from mine
                on conflict (bundle_id, environment, api, replica) do update set rate = excluded.rate,
                    since = excluded.since, throttled_at = excluded.throttled_at, written_at = excluded.written_at
                returning bundle_id, api, rate, since
            ), began as (
                select note_for_webhooks('throttle.began', clock_timestamp(), w.bundle_id, detail => json_build_object(
                    'bundle_id', w.bundle_id, 'environment', \(environment), 'api', w.api, 'since', w.since,
                    'ratePerSecond', round(w.rate::numeric, 1)))
                from written w where not exists (select from send_rates s where s.bundle_id = w.bundle_id
                    and s.environment = \(environment) and s.api = w.api)
            ), ended as (
                select note_for_webhooks('throttle.ended', clock_timestamp(), g.bundle_id, detail => json_build_object(
                    'bundle_id', g.bundle_id, 'environment', \(environment), 'api', g.api, 'since', g.since))
                from (select bundle_id, api, min(since) as since from gone group by bundle_id, api) g
                where not exists (select from written w where w.bundle_id = g.bundle_id and w.api = g.api)
                    and not exists (select from send_rates s where s.environment = \(environment)
                        and s.bundle_id = g.bundle_id and s.api = g.api
                        and not exists (select from gone o where o.bundle_id = s.bundle_id and o.api = s.api
                            and o.replica = s.replica))
            )
            select (select count(*) from began) + (select count(*) from ended) as notes
            """
    }

    /// The approximate time at which a due lane `l` may send. It is computed from the number of lanes before `l` and
    /// the app's rate. Null: nothing throttles the app, or the lane waits for something else.
    static let turn: PostgresQuery = """
        select clock_timestamp() + make_interval(secs => (1 + (
            select count(*) from lanes o where o.environment = l.environment and o.bundle_id = l.bundle_id
                and o.due_at <= clock_timestamp() and (o.rank, o.due_at) < (l.rank, l.due_at))) / sum(s.rate))
        from send_rates s where s.bundle_id = l.bundle_id and s.environment = l.environment
            and s.api = 'broadcast'
            and s.written_at > clock_timestamp() - make_interval(secs => \(lifetime)) and l.due_at <= clock_timestamp()
        having sum(s.rate) > 0
        """

    /// The apps that are throttled: the rates of all replicas together, and the lanes that wait for their turn.
    package func throttles(now: Date) async throws -> [Throttle] {
        try await database.query(Self.throttles(now: now)).map { try Self.throttle($0) }
    }

    /// The statement that reads the throttled apps of all environments, with the lanes that wait for their turn.
    static func throttles(now: Date) -> PostgresQuery {
        """
        select s.*, w.waiting, w.oldest from (
            select bundle_id, environment, api, min(since) as since, sum(rate) as rate from send_rates
            where written_at > clock_timestamp() - make_interval(secs => \(lifetime))
            group by bundle_id, environment, api) s
        cross join lateral (
            select count(*) as waiting,
                coalesce(extract(epoch from \(now)::timestamptz - min(least(l.due_at, l.shard_due_at))), 0)::float8 as oldest from lanes l
            where l.environment = s.environment and l.bundle_id = s.bundle_id
                and ((s.api = 'broadcast' and l.due_at <= \(now)) or (s.api = 'device' and l.shard_due_at <= \(now)))) w
        order by s.bundle_id, s.environment, s.api
        """
    }

    static func throttle(_ row: PostgresRow) throws -> Throttle {
        Throttle(
            app: AppEnvironment(bundleID: try row.word("bundle_id"), environment: try row.word("environment")),
            api: try row.word("api"), since: try row.decode("since"), perSecond: try row.decode("rate"),
            lanesWaiting: try row.decode("waiting"), oldestSeconds: try row.decode("oldest"))
    }
}

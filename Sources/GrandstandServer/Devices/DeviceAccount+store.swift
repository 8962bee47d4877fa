internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The totals in `device_accounts`: the sums over an app's rows.
extension DeviceAccount {
    /// The totals of apps, each in a row with `app` that can be read as an account.
    ///
    /// - Parameter now: the hour of this time counts as the present hour.
    static func load(_ apps: PostgresQuery, at now: Date) -> PostgresQuery {
        let hour: PostgresQuery = "date_trunc('hour', \(now)::timestamptz, 'UTC')"
        return """
            select app, sum(installations)::bigint as installations,
                coalesce(sum(created) filter (where hour = \(hour)), 0)::bigint as created,
                coalesce(sum(created) filter (where hour = \(hour) - interval '1 hour'), 0)::bigint as "createdBefore"
            from device_accounts where app = any(\(apps)) group by app
            """
    }

    /// Counts created or deleted installations in the transaction that writes them. Each session has its own rows, so
    /// that no registration waits for another.
    ///
    /// - Parameter installations: `app` of each, to follow `from`.
    static func count(_ installations: PostgresQuery, areCreated: Bool, at now: PostgresQuery) -> PostgresQuery {
        """
        insert into device_accounts as d
        select app, date_trunc('hour', \(now), 'UTC'), pg_backend_pid(), \(areCreated ? 1 : -1) * count(*),
            \(areCreated ? 1 : 0) * count(*)
        from \(installations) group by app order by app
        on conflict (app, hour, session) do update set installations = d.installations + excluded.installations,
            created = d.created + excluded.created
        """
    }

    /// Deletes installations and counts them.
    ///
    /// - Parameter condition: to follow `where`.
    /// - Returns: a row with the number `n` of deleted installations.
    static func delete(_ condition: PostgresQuery) -> PostgresQuery {
        """
        with gone as (delete from installations where \(condition) returning app),
            counted as (\(count("gone", areCreated: false, at: "now()")))
        select count(*) as n from gone
        """
    }
}

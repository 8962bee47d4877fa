internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// New tokens. They get the newest content separately if no message of their audience reaches them.
enum CrowdJoins {
    /// Seconds after an `end` in which a phone may still show an activity that did not get the `end`. No activity is
    /// active longer.
    static let endIsOfUse = TimeInterval(APNsLimits.activityLifetime)
    /// The shortest time between two separate pushes of the newest content to an activity whose token changes.
    static let rest: PostgresQuery = "interval '30 s'"
    /// Seconds until the newest content is sent again to a token that did not get it.
    static let pause: TimeInterval = 5

    // MARK: Coming

    /// Lets activities get the newest content.
    ///
    /// - Parameter activities: an expression of `bigint[]`: the activities whose tokens came or changed. Their rows are
    ///   locked.
    static func queue(_ activities: PostgresQuery, now: Date) -> PostgresQuery {
        """
        update activities a set has = -1, tries = 0, due_at = greatest(a.joins_at, \(now))
        where a.id = any(\(activities)) and a.in_crowd
        """
    }

    /// Takes reported tokens away from the activities that had them before. An update token belongs to one activity
    /// only; the former and the new activity are on the same phone.
    ///
    /// - Parameter activities: an expression of `bigint[]`: the activities whose tokens were reported.
    static func takeOver(_ activities: PostgresQuery) -> PostgresQuery {
        """
        update activities set update_token = null, registered_at = null, suspect_since = null
        where id = any(array(
            select o.id from (select id, app, update_token from activities where id = any(\(activities)) offset 0) a
            cross join lateral (
                select id from activities where app = a.app and update_token = a.update_token offset 0) o
            where o.id < a.id or o.id <> a.id and not o.id = any(\(activities))
            order by o.id))
        """
    }

    // MARK: Claims

    /// The variants of events that have tokens with a time at which they are due. The query needs as many index probes as
    /// there are such variants.
    static let waiting: PostgresQuery = """
        waiting as (
            (select app, event_key, variant from activities where in_crowd and due_at is not null
            order by app, event_key, variant limit 1)
            union all
            select n.* from waiting w cross join lateral (
                select app, event_key, variant from activities where in_crowd and due_at is not null
                    and (app, event_key, variant) > (w.app, w.event_key, w.variant)
                order by app, event_key, variant limit 1) n
        )
        """

    /// When the first token of each variant of `waiting` is due, and the lane whose messages go to it.
    static let heads: PostgresQuery = """
        waiting w
        cross join lateral (
            select due_at from activities where app = w.app and event_key = w.event_key and variant = w.variant
                and in_crowd and due_at is not null order by due_at limit 1) j
        cross join lateral (select bundle_id, environment from app_environments where id = w.app offset 0) p
        cross join lateral (\(AudienceColumns.ofTokens(of: "w.event_key", in: "p", variant: "w.variant"))) u
        """

    /// Locks lanes that are due, or that have tokens due, and that nobody has leased. Lanes that another transaction has
    /// locked are skipped.
    static func lock(_ claim: LaneClaim, avoiding: [BundleID]) -> PostgresQuery {
        """
        with recursive \(waiting)
        select lane from audiences where lane = any(array(
            (select lane from audiences where environment = \(claim.environment.rawValue)::environment
                and tokens_due_at <= \(claim.at) and bundle_id <> all(\(avoiding.map(\.rawValue)))
            order by rank, tokens_due_at limit \(claim.limit))
            union
            (select u.lane from \(heads)
            where j.due_at <= \(claim.at) and u.environment = \(claim.environment.rawValue)::environment
                and coalesce(u.tokens_leased_until <= \(claim.at), true)
                and u.bundle_id <> all(\(avoiding.map(\.rawValue)))
            order by j.due_at limit \(claim.limit))))
            and coalesce(tokens_leased_until <= \(claim.at), true)
        order by lane for no key update skip locked
        """
    }
}

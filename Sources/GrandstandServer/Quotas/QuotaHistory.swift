internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Which samples to read.
struct QuotaHistory {
    var bundleID: BundleID?
    var environment: APNsEnvironment?
    var reach = AppReach.all
    /// Steps that end after `from` and begin before `to`. The last step may be incomplete.
    var from: Date
    var to: Date
    /// Seconds: a multiple of `fine`.
    var step: Int

    /// `fine` and `coarse`: seconds between two samples. `fineKept` and `coarseKept`: seconds for which these samples
    /// are kept. After `fineKept` only hourly samples remain.
    static let fine = 300
    static let fineKept: TimeInterval = 2 * 86_400
    static let coarse = 3_600
    static let coarseKept: TimeInterval = 400 * 86_400
    /// The most samples in one answer.
    static let maximum = 10_000

    /// Seconds between the samples that the steps are made of.
    var resolution: Int { step.isMultiple(of: Self.coarse) ? Self.coarse : Self.fine }

    /// The number of steps in the period.
    var steps: Int { max(0, Int((to.timeIntervalSince(from) / Double(step)).rounded(.up))) }

    /// The latest time that ends a step of `seconds` and is not after `now`; `.up`: the first that is not before it.
    static func end(of seconds: Int, at now: Date, _ rule: FloatingPointRoundingRule = .down) -> Date {
        let whole = (now.timeIntervalSince1970 / Double(seconds)).rounded(rule)
        return Date(timeIntervalSince1970: whole * Double(seconds))
    }

    /// The finest step for which samples still exist and that gives at most a thousand samples.
    static func step(from: Date, to: Date, now: Date) -> Int {
        let fits = to.timeIntervalSince(from) / Double(fine) <= 1_000
        if fits, now.timeIntervalSince(from) <= fineKept { return fine }
        return to.timeIntervalSince(from) / Double(coarse) <= 1_000 ? coarse : 86_400
    }
}

/// Samples of all quotas over time, in the table `quota_samples`. There is one sample for every five minutes and one
/// for every hour. The five-minute samples are kept only for days (`QuotaHistory.fineKept`), so that a long history
/// needs little space.
extension ChannelStore {
    /// Stores the quotas as samples of a time, and deletes samples past their retention.
    ///
    /// - Parameter at: the end of a step.
    func keepSamples(of quotas: [Quota], at: Date) async throws {
        try await database.pipeline(
            [QuotaHistory.fine, QuotaHistory.coarse].map { Self.insertSamples(quotas, at, $0) }
                + [
                    "delete from quota_samples where step = \(QuotaHistory.fine) and at <= \(at - QuotaHistory.fineKept)",
                    """
                    delete from quota_samples where step = \(QuotaHistory.coarse) and at <= \(at - QuotaHistory.coarseKept)
                    """,
                ])
    }

    /// Each sample also changes the sample of its hour, so the present hour has one, too. If several replicas take the
    /// same sample, the last one stays.
    ///
    /// The numbers of created and deleted channels come from the audit log, so a step is complete even if a sample
    /// within it is missing. The audit log is read once for all apps, because the log of one step is small.
    private static func insertSamples(_ quotas: [Quota], _ at: Date, _ step: Int) -> PostgresQuery {
        let end = QuotaHistory.end(of: step, at: at, .up)
        return """
            insert into quota_samples as s
                (bundle_id, environment, step, at, used, reserved, peak, channel_limit, created, deleted)
            select q.bundle_id, q.environment::environment, \(step), \(end), q.used, q.reserved, q.used + q.reserved,
                q.channel_limit, coalesce(c.created, 0), coalesce(c.deleted, 0)
            from unnest(\(quotas.map(\.bundleID.rawValue)), \(quotas.map(\.environment.rawValue)),
                \(quotas.map(\.used)), \(quotas.map(\.reserved)), \(quotas.map(\.limit)))
                as q(bundle_id, environment, used, reserved, channel_limit)
            join app_environments ae on ae.bundle_id = q.bundle_id and ae.environment = q.environment::environment
            left join (
                select bundle_id, environment, count(*) filter (where action = 'channel.created') as created,
                    count(*) filter (where action = 'channel.deleted') as deleted
                from audit_log
                where at > \(end - TimeInterval(step)) and at <= \(at)
                    and action in ('channel.created', 'channel.deleted')
                group by bundle_id, environment) c
                on c.bundle_id = q.bundle_id and c.environment = q.environment::environment
            order by q.bundle_id, q.environment
            on conflict (bundle_id, environment, step, at) do update set used = excluded.used,
                reserved = excluded.reserved, peak = greatest(s.peak, excluded.peak),
                channel_limit = excluded.channel_limit, created = excluded.created, deleted = excluded.deleted
            """
    }

    /// Samples in order of app, environment and time. Steps without a sample are left out.
    func samples(_ history: QuotaHistory) async throws -> [Contract.QuotaSample] {
        let step = Double(history.step)
        let topics = history.reach.topics
        return try await database.query(
            """
            select bundle_id as "bundleId", environment,
                to_timestamp(ceil(extract(epoch from at) / \(step)) * \(step)) as at,
                (array_agg(used order by at desc))[1] as used, (array_agg(reserved order by at desc))[1] as reserved,
                max(peak) as peak, (array_agg(channel_limit order by at desc))[1] as "limit",
                sum(created)::bigint as created, sum(deleted)::bigint as deleted
            from quota_samples
            where step = \(history.resolution) and at > \(history.from)
                and at < \(history.to + TimeInterval(history.resolution))
                and (\(history.bundleID?.topic)::text is null or lower(bundle_id) = \(history.bundleID?.topic))
                and (\(history.environment?.rawValue)::text is null
                    or environment = \(history.environment?.rawValue)::text::environment)
                and (\(topics)::text[] is null or lower(bundle_id) = any(\(topics)))
            group by 1, 2, 3 order by 1, 2, 3 limit \(2 * QuotaHistory.maximum)
            """
        ).read()
    }
}

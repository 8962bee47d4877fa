internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Samples of all quotas over time, in the table `quota_samples`. There is one sample for every five minutes and one
/// for every hour. The five-minute samples are kept only for days (`QuotaHistory.fineKept`), so that a long history
/// needs little space.
extension ChannelStore {
    /// Stores the quotas as samples of a time, and deletes samples past their retention.
    ///
    /// - Parameter at: the end of a step.
    func keepSamples(of quotas: [Quota], at: Date) async throws {
        let coarse = at.addingTimeInterval(-QuotaHistory.coarseKept)
        var statements = [Self.insertSamples(quotas, at, QuotaHistory.fine)]
        if QuotaHistory.end(of: QuotaHistory.coarse, at: at) == at {
            statements.append(Self.insertSamples(quotas, at, QuotaHistory.coarse))
        }
        statements += [
            """
            delete from quota_samples where step = \(QuotaHistory.fine)
                and at <= \(at.addingTimeInterval(-QuotaHistory.fineKept))
            """,
            "delete from quota_samples where step = \(QuotaHistory.coarse) and at <= \(coarse)",
        ]
        try await database.transaction { [statements] connection in
            _ = try await connection.pipeline(statements)
        }
    }

    /// Samples all quotas, every five minutes of the database's clock. Each replica takes each sample; the first one
    /// stays. If no replica runs within a minute after the sample is due, it is missing and is not added later.
    ///
    /// - Returns: when the next sample is due.
    @discardableResult
    func sample(tenure: ChannelTenure, now: Date) async throws -> Date {
        let due = QuotaHistory.end(of: QuotaHistory.fine, at: now)
        if now.timeIntervalSince(due) <= 60 {
            try await keepSamples(of: try await quotas(now: now, tenure: tenure), at: due)
        }
        return due.addingTimeInterval(TimeInterval(QuotaHistory.fine))
    }

    /// If several replicas record the same time, the first replica's sample stays; the other replicas wait for its
    /// commit and write nothing.
    ///
    /// The numbers of created and deleted channels come from the audit log, so a step is complete even if a sample
    /// within it is missing. The audit log is read once for all apps, because the log of one step is small.
    private static func insertSamples(_ quotas: [Quota], _ at: Date, _ step: Int) -> PostgresQuery {
        let start = at.addingTimeInterval(-Double(step))
        return """
            insert into quota_samples
                (bundle_id, environment, step, at, used, reserved, peak, channel_limit, created, deleted)
            select q.bundle_id, q.environment::environment, \(step), \(at), q.used, q.reserved,
                greatest(q.used + q.reserved, (
                    select max(s.peak) from quota_samples s
                    where s.bundle_id = q.bundle_id and s.environment = q.environment::environment
                        and s.step = \(QuotaHistory.fine) and s.at > \(start) and s.at <= \(at))),
                q.channel_limit, coalesce(c.created, 0), coalesce(c.deleted, 0)
            from unnest(\(quotas.map(\.bundleID.rawValue)), \(quotas.map(\.environment.rawValue)),
                \(quotas.map(\.used)), \(quotas.map(\.reserved)), \(quotas.map(\.limit)))
                as q(bundle_id, environment, used, reserved, channel_limit)
            join app_environments ae on ae.bundle_id = q.bundle_id and ae.environment = q.environment::environment
            left join (
                select bundle_id, environment, count(*) filter (where action = 'channel.created') as created,
                    count(*) filter (where action = 'channel.deleted') as deleted
                from audit_log
                where at > \(start) and at <= \(at) and action in ('channel.created', 'channel.deleted')
                group by bundle_id, environment) c
                on c.bundle_id = q.bundle_id and c.environment = q.environment::environment
            order by q.bundle_id, q.environment
            on conflict do nothing
            """
    }

    /// Whether a five-minute sample `s` is of an hour without an hourly sample, such as the current hour. Such an hour
    /// is shown from the five-minute samples.
    private static func isOfOpenHour(_ history: QuotaHistory) -> PostgresQuery {
        """
        \(history.resolution == QuotaHistory.coarse) and step = \(QuotaHistory.fine) and not exists (
            select from quota_samples h
            where h.bundle_id = s.bundle_id and h.environment = s.environment and h.step = \(QuotaHistory.coarse)
                and h.at = to_timestamp(ceil(extract(epoch from s.at) / \(QuotaHistory.coarse)) * \(QuotaHistory.coarse)))
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
            from quota_samples s
            where (step = \(history.resolution) or \(Self.isOfOpenHour(history))) and at > \(history.from) and at <= \(history.to)
                and (\(history.bundleID?.topic)::text is null or lower(bundle_id) = \(history.bundleID?.topic))
                and (\(history.environment?.rawValue)::text is null
                    or environment = \(history.environment?.rawValue)::text::environment)
                and (\(topics)::text[] is null or lower(bundle_id) = any(\(topics)))
            group by 1, 2, 3 order by 1, 2, 3 limit \(2 * QuotaHistory.maximum)
            """
        ).read()
    }
}

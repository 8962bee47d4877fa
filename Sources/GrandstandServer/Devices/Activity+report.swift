internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// An activity as an app reports it.
struct ActivityReport: Sendable {
    let id: InstallationID
    let secret: SecretHash
    /// ActivityKit's ID of the activity.
    let activityID: String
    let draft: Contract.ActivityDraft
    let now: Date
    /// The number of the installation's row. `judged` reads this and the following members.
    var row = 0
    var app: Int32 = 0
    /// Whether the report has a token that is not stored for the activity, or that APNs refused.
    var hasNewToken = false
    /// The variant of the event's audience that is chosen for the activity, as the column stores it.
    var variant = ""

    /// - Parameter row: a row of `InstallationTransactions.load`.
    /// - Throws: the `Problem` for which the report is refused.
    fileprivate func judged(by row: PostgresRow) throws -> ActivityReport {
        var report = self
        (report.app, report.row) = try row.authenticated(id, secret)
        guard let variants = try row.decode([String]?.self, "variants") else {
            throw Problem.noEvent(try EventKey(allowed: draft.eventKey))
        }
        report.hasNewToken = try row.decode("brings_token")
        _ = try DeviceBounds.pace(report.hasNewToken ? 1 : 0, try row.decode("tokens_paced_until"), at: now)
        let choice = VariantChoice(variants.map { $0.isEmpty ? nil : $0 }).index(
            named: try draft.variant ?? row.decode("variant"), locale: try row.decode("locale"))
        report.variant = choice.map { variants[$0] } ?? ""
        return report
    }
}

extension InstallationTransactions {
    /// Records reports in order.
    ///
    /// - Throws: `Problem.contention` if other transactions caused a conflict several times in a row. Then some reports
    ///   may be durable; to repeat them changes nothing.
    func record(_ all: [ActivityReport]) async throws -> [Result<Bool, Problem>] {
        try await all.inRounds {
            [$0.id]
        } _: { some in
            let known = try await database.pipeline([Outbox.planning(rows: 1), Self.load(some)])[1]
            let reports = try zip(some, known).map { report, row -> Result<ActivityReport, Problem> in
                do { return .success(try report.judged(by: row)) } catch let problem as Problem {
                    return .failure(problem)
                }
            }
            // Rows are written in one order, so that no two transactions wait for each other.
            let written = try await write(reports.compactMap { try? $0.get() }.sorted { $0.row < $1.row })
            return reports.map { report in
                report.flatMap { report in
                    // An installation may have been deleted meanwhile.
                    written[report.row].map { .success($0) } ?? .failure(InstallationStore.notFound(report.id))
                }
            }
        }
    }

    /// The data by which reports are judged, in their order, read without a lock.
    ///
    /// `variants` are those of the event's audiences of the app in its environment; null: there are none. The answer
    /// for another app's event is the same as for an event that does not exist. Otherwise the API key that ships in an
    /// app would tell anybody which events other apps have.
    private static func load(_ some: [ActivityReport]) -> PostgresQuery {
        """
        select p.app, i.id, i.secret_hash, i.variant, i.locale, i.tokens_paced_until, v.variants,
            r.token is not null and a.update_token is distinct from decode(r.token, 'hex') as brings_token
        from \(Registration.rows(some.map(\.id)))
        join unnest(\(some.map(\.activityID)), \(some.map(\.draft.eventKey)), \(some.map(\.draft.updateToken)))
            with ordinality as r(activity, event_key, token, place) using (place)
        left join lateral (
            select update_token from activities where installation = i.id and activity = r.activity
                and suspect_since is null offset 0) a on true
        cross join lateral (
            select array_agg(u.variant order by u.position) as variants from app_environments ae
            join audiences u on \(AudienceColumns.isOfSameApp("u", "ae"))
            where ae.id = p.app and u.event_key = r.event_key) v
        order by place
        """
    }

    /// - Returns: the installations whose activities were written, and whether each activity is new.
    private func write(_ reports: [ActivityReport]) async throws -> [Int: Bool] {
        guard !reports.isEmpty else { return [:] }
        let bringing = reports.filter(\.hasNewToken)
        let rows = try await database.pipeline(
            [
                Outbox.planning(rows: 1), Self.lockInstallations(reports), Self.lockActivities(reports),
                Self.upsert(reports), Self.confirmStarts(reports), Self.dropOld(reports),
            ] + Self.joinCrowd(bringing))
        if !bringing.isEmpty, rows[rows.count - 1].affectedRows > 0 { wakeUps.send([.crowds]) }
        var written: [Int: Bool] = [:]
        for row in rows[3] { written[try row.decode("installation")] = try row.decode("created") }
        return written
    }

    /// Locks installations before activities. While the activities of an installation are written, no other transaction
    /// deletes the installation.
    private static func lockInstallations(_ reports: [ActivityReport]) -> PostgresQuery {
        "select from installations where id = any(\(reports.map(\.row))) order by id for no key update"
    }

    /// Locks activities in order of their IDs, as a settlement does. No other transaction can lock
    /// activities that are inserted here.
    private static func lockActivities(_ reports: [ActivityReport]) -> PostgresQuery {
        """
        select from activities where id = any(array(select a.id from \(rows(of: reports))))
        order by id for no key update
        """
    }

    /// The rows `a` of the reports' activities.
    private static func rows(of reports: [ActivityReport]) -> PostgresQuery {
        """
        unnest(\(reports.map(\.row)), \(reports.map(\.activityID))) as n(installation, activity)
        cross join lateral (
            select * from activities where installation = n.installation and activity = n.activity offset 0) a
        """
    }

    /// An activity stays with the variant of its first report, unless a later report names another variant.
    private static func upsert(_ reports: [ActivityReport]) -> PostgresQuery {
        let drafts = reports.map(\.draft)
        let tokens = reports.map { $0.hasNewToken ? $0.draft.updateToken : nil }
        let named = reports.filter { $0.draft.variant != nil }.map(\.row)
        return """
            insert into activities as a (installation, activity, app, event_key, attributes_type, state, update_token,
                registered_at, channel_id, variant, reported_at, first_reported_at)
            select installation, activity, app, event_key, attributes_type, state::activity_state, decode(token, 'hex'),
                case when token is not null then at end, channel_id, variant, at, at
            from unnest(\(reports.map(\.row)), \(reports.map(\.activityID)),
                \(reports.map(\.app)), \(drafts.map(\.eventKey)), \(drafts.map(\.attributesType)),
                \(drafts.map(\.state.rawValue)), \(tokens), \(drafts.map(\.channelId)),
                \(reports.map(\.variant)), \(reports.map(\.now)))
                as r(installation, activity, app, event_key, attributes_type, state, token, channel_id, variant, at)
            cross join lateral (select from installations where id = r.installation offset 0) i
            on conflict (installation, activity) do update set event_key = excluded.event_key,
                attributes_type = excluded.attributes_type, state = excluded.state,
                update_token = coalesce(excluded.update_token, a.update_token),
                registered_at = coalesce(excluded.registered_at, a.registered_at),
                suspect_since = case when excluded.update_token is null then a.suspect_since end,
                channel_id = coalesce(excluded.channel_id, a.channel_id),
                variant = case when a.event_key = excluded.event_key and a.installation <> all(\(named))
                    then a.variant else excluded.variant end,
                has = case when a.installation = any(\(named)) and a.variant <> excluded.variant then 0 else a.has end,
                reported_at = excluded.reported_at
            returning installation, xmax = 0 as created
            """
    }

    /// Confirms starts. If an activity did not exist before the push, the push started it, even if APNs' answer to the
    /// push is not known yet. A start that APNs refused did not arrive. The comparison of times allows 0.25 s, because
    /// replicas' clocks may differ a little.
    private static func confirmStarts(_ reports: [ActivityReport]) -> PostgresQuery {
        """
        update starts s set confirmed_at = a.reported_at from \(rows(of: reports))
        cross join lateral (
            select id from start_runs
            where event_key = a.event_key and app = a.app and attributes_type = a.attributes_type offset 0) r
        where s.run = r.id and s.installation = a.installation and s.confirmed_at is null
            and s.state in ('sending', 'accepted', 'unknown') and a.first_reported_at >= s.at - interval '0.25 s'
            and s.installation = any(\(reports.map(\.row)))
        """
    }

    private static func dropOld(_ reports: [ActivityReport]) -> PostgresQuery {
        """
        delete from activities where id = any(array(
            select x.id from unnest(\(reports.map(\.row))) as n(installation) cross join lateral (
                select id from activities where installation = n.installation
                order by (state in ('active', 'stale')) desc, reported_at desc, id desc
                offset \(DeviceBounds.maxActivities)) x))
        """
    }

    /// Adds the activities whose token came or changed with these reports to their events' crowds, and moves
    /// `tokens_paced_until` of their installations. The installations' rows are locked, so the tokens of other requests
    /// are counted, too.
    private static func joinCrowd(_ bringing: [ActivityReport]) -> [PostgresQuery] {
        guard let now = bringing.map(\.now).max() else { return [] }
        let joined: PostgresQuery = "(array(select a.id from \(rows(of: bringing))))"
        return [
            """
            update installations set tokens_paced_until = greatest(tokens_paced_until, \(now))
                + make_interval(secs => \(DeviceBounds.tokenInterval))
            where id = any(\(bringing.map(\.row)))
            """, takeOverTokens(joined), makeDue(joined, now: now),
        ]
    }

    /// Lets activities get the newest content.
    ///
    /// - Parameter activities: an expression of `bigint[]`: the activities whose tokens came or changed. Their rows are
    ///   locked.
    static func makeDue(_ activities: PostgresQuery, now: Date) -> PostgresQuery {
        """
        update activities set has = -1, tries = 0, due_at = \(now) where id = any(\(activities)) and in_crowd
        """
    }

    /// Takes reported tokens away from the activities that had them before. An update token belongs to one activity
    /// only; the former and the new activity are on the same phone.
    ///
    /// - Parameter activities: an expression of `bigint[]`: the activities whose tokens were reported.
    private static func takeOverTokens(_ activities: PostgresQuery) -> PostgresQuery {
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
}

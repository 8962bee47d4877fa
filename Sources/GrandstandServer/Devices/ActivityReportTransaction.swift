internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// An activity as an app reports it.
struct ActivityReport: Sendable {
    let id: InstallationID
    let secret: SecretHash
    /// ActivityKit's ID of the activity.
    let activity: String
    let draft: Contract.ActivityDraft
    let now: Date
}

/// The transaction that makes reports of activities durable.
struct ActivityReportTransaction: Sendable {
    let database: Database

    /// A report that is to be written to the table `activities`.
    private struct Line {
        /// The ID of the installation's row.
        let row: Int
        let app: Int32
        let report: ActivityReport
        /// Whether the report has a token that is not stored for the activity, or that APNs refused.
        let bringsToken: Bool
        /// The variant of the event's audience that is chosen for the activity, as the column stores it.
        let variant: String

        /// - Parameter row: a row of `known`.
        init(_ report: ActivityReport, _ row: PostgresRow) throws {
            guard let app = try row.decode(Int32?.self, "app") else { throw Problem.noApp(report.id.bundleID) }
            guard let number = try row.decode(Int?.self, "id") else { throw InstallationStore.absent(report.id) }
            guard try row.decode("secret_hash") == report.secret else {
                throw Problem.wrongInstallationSecret
            }
            guard let variants = try row.decode([String]?.self, "variants") else {
                throw Problem.noEvent(try EventKey(allowed: report.draft.eventKey))
            }
            bringsToken = try row.decode("brings_token")
            if bringsToken {
                _ = try DeviceBounds.pace(1, try row.decode("tokens_paced_until"), at: report.now)
            }
            self.row = number
            self.app = app
            self.report = report
            let choice = VariantChoice(variants.map { $0.isEmpty ? nil : $0 }).index(
                named: try report.draft.variant ?? row.decode("variant"), locale: try row.decode("locale"))
            variant = choice.map { variants[$0] } ?? ""
        }
    }

    /// Records reports in order.
    ///
    /// - Throws: `Problem.contention` if other transactions caused a conflict several times in a row. Then some reports
    ///   may be durable; to repeat them changes nothing.
    func report(_ all: [ActivityReport]) async throws -> [Result<Bool, Problem>] {
        try await all.inRounds {
            [$0.id]
        } _: { some in
            try await Database.retrying { try await reportOnce(some) }
        }
    }

    /// - Parameter some: reports of different installations.
    private func reportOnce(_ some: [ActivityReport]) async throws -> [Result<Bool, Problem>] {
        let known = try await database.pipeline([Outbox.planning(rows: 1), Self.known(some)])[1]
        let lines = try zip(some, known).map { report, row in
            do { return Result<Line, Problem>.success(try Line(report, row)) } catch let problem as Problem {
                return .failure(problem)
            }
        }
        // Rows are written in one order, so that no two transactions wait for each other.
        let written = try await write(lines.compactMap { try? $0.get() }.sorted { $0.row < $1.row })
        return lines.map { line in
            line.flatMap { line in
                // An installation may have been deleted meanwhile.
                written[line.row].map { .success($0) } ?? .failure(InstallationStore.absent(line.report.id))
            }
        }
    }

    /// The data by which reports are judged, in their order, read without a lock.
    ///
    /// `variants` are those of the event's audiences of the app in its environment; null: there are none. The answer
    /// for another app's event is the same as for an event that does not exist. Otherwise the API key that ships in an
    /// app would tell anybody which events other apps have.
    private static func known(_ some: [ActivityReport]) -> PostgresQuery {
        """
        select p.app, i.id, i.secret_hash, i.variant, i.locale, i.tokens_paced_until, v.variants,
            r.token is not null and a.update_token is distinct from decode(r.token, 'hex') as brings_token
        from \(Registration.rows(some.map(\.id)))
        join unnest(\(some.map(\.activity)), \(some.map(\.draft.eventKey)), \(some.map(\.draft.updateToken)))
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
    private func write(_ lines: [Line]) async throws -> [Int: Bool] {
        guard !lines.isEmpty else { return [:] }
        let rows = try await database.pipeline(
            [
                Outbox.planning(rows: 1), Self.lockInstallations(lines), Self.lockActivities(lines),
                Self.upsert(lines), Self.confirm(lines), Self.trim(lines),
            ] + Self.join(lines) + [Self.pace(lines)])
        var written: [Int: Bool] = [:]
        for row in rows[3] { written[try row.decode("installation")] = try row.decode("created") }
        return written
    }

    /// Locks installations before activities, as registrations do. While the activities of an installation are written,
    /// no other transaction deletes the installation or changes its choice about frequent pushes.
    private static func lockInstallations(_ lines: [Line]) -> PostgresQuery {
        "select from installations where id = any(\(lines.map(\.row))) order by id for no key update"
    }

    /// Locks activities in order of their IDs, as a settlement's `TokenCare` does. No other transaction can lock
    /// activities that are inserted here.
    private static func lockActivities(_ lines: [Line]) -> PostgresQuery {
        """
        select from activities where id = any(array(
            select a.id from unnest(\(lines.map(\.row)), \(lines.map(\.report.activity))) as n(installation, activity)
            cross join lateral (select id from activities
                where installation = n.installation and activity = n.activity offset 0) a))
        order by id for no key update
        """
    }

    /// An activity stays with the variant of its first report, unless a later report names another variant.
    private static func upsert(_ lines: [Line]) -> PostgresQuery {
        let drafts = lines.map(\.report.draft)
        let named = lines.filter { $0.report.draft.variant != nil }.map(\.row)
        return """
            insert into activities as a (installation, activity, app, event_key, attributes_type, state, update_token,
                registered_at, joins_at, channel_id, variant, reported_at, frequent, first_reported_at)
            select installation, activity, app, event_key, attributes_type, state::activity_state, decode(token, 'hex'),
                case when token is not null then at end, case when token is not null then at end,
                channel_id, variant, at, i.frequent_pushes_enabled, at
            from unnest(\(lines.map(\.row)), \(lines.map(\.report.activity)),
                \(lines.map(\.app)), \(drafts.map(\.eventKey)), \(drafts.map(\.attributesType)),
                \(drafts.map(\.state.rawValue)), \(drafts.map(\.updateToken)), \(drafts.map(\.channelId)),
                \(lines.map(\.variant)), \(lines.map(\.report.now)))
                as r(installation, activity, app, event_key, attributes_type, state, token, channel_id, variant, at)
                cross join lateral (
                    select frequent_pushes_enabled from installations where id = r.installation offset 0) i
            on conflict (installation, activity) do update set event_key = excluded.event_key,
                attributes_type = excluded.attributes_type, state = excluded.state,
                update_token = coalesce(excluded.update_token, a.update_token),
                registered_at = case when excluded.update_token is null
                        or excluded.update_token = a.update_token and a.suspect_since is null
                    then a.registered_at else excluded.registered_at end,
                joins_at = case when excluded.update_token is null
                        or excluded.update_token = a.update_token and a.suspect_since is null
                        or a.joins_at > excluded.joins_at
                    then a.joins_at else greatest(excluded.joins_at, a.joins_at + \(CrowdJoins.rest)) end,
                suspect_since = case when excluded.update_token is null then a.suspect_since end,
                reason = case when excluded.update_token is null then a.reason end,
                channel_id = coalesce(excluded.channel_id, a.channel_id),
                variant = case when a.event_key = excluded.event_key and a.installation <> all(\(named))
                    then a.variant else excluded.variant end,
                has = case when a.installation = any(\(named)) and a.variant <> excluded.variant then 0 else a.has end,
                reported_at = excluded.reported_at,
                frequent = excluded.frequent
            returning installation, xmax = 0 as created
            """
    }

    /// Confirms starts. If an activity did not exist before the push, the push started it, even if APNs' answer to the
    /// push is not known yet. A start that APNs refused did not arrive. The comparison of times allows 0.25 s, because
    /// replicas' clocks may differ a little.
    private static func confirm(_ lines: [Line]) -> PostgresQuery {
        """
        update starts s set confirmed_at = n.at
        from unnest(\(lines.map(\.row)), \(lines.map(\.app)), \(lines.map(\.report.draft.eventKey)),
            \(lines.map(\.report.draft.attributesType)), \(lines.map(\.report.activity)), \(lines.map(\.report.now)))
            as n(installation, app, event_key, attributes_type, activity, at)
        cross join lateral (
            select id from start_runs
            where event_key = n.event_key and app = n.app and attributes_type = n.attributes_type offset 0) r
        cross join lateral (
            select first_reported_at from activities
            where installation = n.installation and activity = n.activity offset 0) a
        where s.run = r.id and s.installation = n.installation and s.confirmed_at is null
            and s.state in ('sending', 'accepted', 'unknown') and a.first_reported_at >= s.at - interval '0.25 s'
            and s.installation = any(\(lines.map(\.row)))
        """
    }

    /// If an activity's token came or changed with this report, adds the activity to its event's crowd.
    private static func join(_ lines: [Line]) -> [PostgresQuery] {
        let joining = lines.filter { $0.report.draft.updateToken != nil }
        guard let now = joining.map(\.report.now).max() else { return [] }
        let joined: PostgresQuery = """
            (array(select a.id from unnest(\(joining.map(\.row)), \(joining.map(\.report.activity)))
                    as r(installation, activity)
                cross join lateral (select id, in_crowd, registered_at, reported_at from activities
                    where installation = r.installation and activity = r.activity offset 0) a
                where a.in_crowd and a.registered_at = a.reported_at))
            """
        return [CrowdJoins.takeOver(joined)] + CrowdJoins.queue(joined, now: now)
    }

    private static func trim(_ lines: [Line]) -> PostgresQuery {
        """
        delete from activities where id = any(array(
            select x.id from unnest(\(lines.map(\.row))) as n(installation) cross join lateral (
                select id from activities where installation = n.installation
                order by (state in ('active', 'stale')) desc, reported_at desc, id desc
                offset \(DeviceBounds.activities)) x))
        """
    }

    /// Moves `tokens_paced_until` of installations that brought tokens. The installations' rows are locked, so the
    /// tokens of other requests are counted, too.
    private static func pace(_ lines: [Line]) -> PostgresQuery {
        let bringing = lines.filter(\.bringsToken)
        return """
            update installations
            set tokens_paced_until = greatest(tokens_paced_until, \(bringing.map(\.report.now).max()))
                + make_interval(secs => \(DeviceBounds.tokenInterval))
            where id = any(\(bringing.map(\.row)))
            """
    }
}

internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// An activity as an app reports it, with its event and token as the tables have them.
struct ActivityReport: Sendable {
    let key: InstallationKey
    let id: InstallationID
    let secret: SecretHash
    /// ActivityKit's ID of the activity.
    let activity: String
    var draft: Contract.ActivityDraft
    let eventKey: EventKey
    var token: DeviceToken?
    let now: Date

    init(
        key: InstallationKey, id: InstallationID, secret: SecretHash, activity: String, _ draft: Contract.ActivityDraft,
        now: Date
    ) throws(Problem) {
        self.key = key
        self.id = id
        self.secret = secret
        self.activity = activity
        self.draft = draft
        self.now = now
        eventKey = try EventKey(allowed: draft.eventKey)
        token = try draft.updateToken.map { text throws(Problem) in try DeviceToken(allowed: text) }
    }

    /// This report with the token, channel and variant of `earlier` that it leaves out.
    func after(_ earlier: ActivityReport) -> ActivityReport {
        var merged = self
        merged.token = token ?? earlier.token
        merged.draft.channelId = draft.channelId ?? earlier.draft.channelId
        merged.draft.variant = draft.variant ?? earlier.draft.variant
        return merged
    }
}

/// The transaction that makes reports of activities durable.
struct ActivityReportTransaction: Sendable {
    let database: Database

    private static let attempts = 4

    /// An activity of an installation.
    private struct Name: Hashable {
        let row: Int
        let id: String
    }

    /// An installation that sends reports. `row` is its ID in the table `installations`.
    private struct Reporter {
        let row: Int
        let secret: SecretHash
        let variant: String?
        let locale: String?
        let pacedUntil: Date?
    }

    /// An activity that is to be written to the table `activities`. `row` is the ID of its installation's row.
    private struct Line {
        let row: Int
        /// The last report, with what earlier ones said.
        var report: ActivityReport
        /// The variant of the event's audience that is chosen for the activity, as the column stores it.
        var variant: String
    }

    /// Records reports in order. Several reports of one activity become one report: the last report, with the last
    /// token and the last channel that these reports have.
    ///
    /// - Throws: `Problem.contention` if other transactions caused a conflict several times in a row.
    func report(_ all: [ActivityReport]) async throws -> [Result<Bool, Problem>] {
        for _ in 0..<Self.attempts {
            do {
                return try await reportOnce(all)
            } catch let problem as Problem where problem == .contention {
                continue
            }
        }
        throw Problem.contention
    }

    private func reportOnce(_ all: [ActivityReport]) async throws -> [Result<Bool, Problem>] {
        let known = try await known(all)
        var lines: [Name: Line] = [:]
        var order: [Name] = []
        var pace = Pace()
        let names = all.enumerated().map { place, report -> Result<Name, Problem> in
            Result { () throws(Problem) in
                guard let installation = known.installations[report.key] else {
                    throw InstallationStore.absent(report.id)
                }
                guard installation.secret == report.secret else { throw Problem.wrongInstallationSecret }
                let key = report.eventKey
                guard let variants = known.events[AppEvents.Name(app: report.key.app, key: key)] else {
                    throw Problem.noEvent(key)
                }
                let name = Name(row: installation.row, id: report.activity)
                if let token = report.token, token != lines[name]?.report.token ?? known.tokens[place] {
                    try pace.take(name.row, installation.pacedUntil, at: report.now)
                }
                let choice = VariantChoice(variants).index(
                    named: report.draft.variant ?? installation.variant, locale: installation.locale)
                let variant = choice.flatMap { variants[$0] } ?? ""
                if let earlier = lines[name] {
                    lines[name]?.report = report.after(earlier.report)
                    if report.draft.variant != nil { lines[name]?.variant = variant }
                } else {
                    order.append(name)
                    lines[name] = Line(row: name.row, report: report, variant: variant)
                }
                return name
            }
        }
        guard !order.isEmpty else { return names.map { $0.map { _ in false } } }
        // Rows are written in one order, so that no two transactions wait for each other.
        let sorted = order.sorted { ($0.row, $0.id) < ($1.row, $1.id) }.compactMap { lines[$0] }
        var written = try await write(sorted, pace)
        return zip(names, all).map { name, report in
            name.flatMap { name in
                // An installation may have been deleted meanwhile.
                guard let isNew = written[name] else {
                    return .failure(InstallationStore.absent(report.id))
                }
                written[name] = false
                return .success(isNew)
            }
        }
    }

    private func known(
        _ all: [ActivityReport]
    ) async throws -> Known {
        let keys = all.map(\.key)
        let rows = try await database.pipeline([
            """
            select n.app, n.installation, i.id, h.secret_hash, h.variant, h.locale, h.tokens_paced_until
            from \(InstallationRows.rows(keys.map(\.app), keys.map(\.id)))
                cross join lateral (
                    select secret_hash, variant, locale, tokens_paced_until from installations
                    where id = i.id offset 0) h
            """,
            AppEvents.load(Set(all.map { AppEvents.Name(app: $0.key.app, key: $0.eventKey) })),
            Self.tokens(all),
        ])
        var known = Known(events: try AppEvents.variants(rows[1]))
        for row in rows[0] {
            guard let secret = SecretHash(try row.decode("secret_hash")) else { continue }
            known.installations[InstallationKey(app: try row.decode("app"), id: try row.decode("installation"))] =
                Reporter(
                    row: try row.decode("id"), secret: secret, variant: try row.decode("variant"),
                    locale: try row.decode("locale"), pacedUntil: try row.decode("tokens_paced_until"))
        }
        for row in rows[2] {
            known.tokens[try row.decode("place")] = DeviceToken(bytes: try row.decode("update_token"))
        }
        return known
    }

    /// The data by which a batch of reports is judged, read without a lock.
    private struct Known {
        var installations: [InstallationKey: Reporter] = [:]
        /// The variants of each event's audiences of the app.
        let events: [AppEvents.Name: [String?]]
        /// The tokens that are stored for the reported activities and are not suspect, by the index of the report.
        var tokens: [Int: DeviceToken] = [:]
    }

    /// By the row of each installation in a batch: the number of tokens that it brings, and its `tokensPacedUntil`
    /// after these tokens.
    private struct Pace {
        private(set) var counts: [Int: Int] = [:]
        private var until: [Int: Date] = [:]

        mutating func take(_ installation: Int, _ known: Date?, at now: Date) throws(Problem) {
            until[installation] = try TokenPace.take(1, until[installation] ?? known, at: now)
            counts[installation, default: 0] += 1
        }
    }

    private static func tokens(_ all: [ActivityReport]) -> PostgresQuery {
        let bringing = all.enumerated().filter { $0.element.token != nil }
        return """
            select n.place, a.update_token
            from unnest(\(bringing.map(\.offset)), \(bringing.map { Int32($0.element.key.app) }),
                \(bringing.map(\.element.key.id)), \(bringing.map(\.element.activity)))
                as n(place, app, installation, activity)
            cross join lateral (
                select id from installations where app = n.app and installation = n.installation offset 0) i
            cross join lateral (
                select update_token from activities where installation = i.id and activity = n.activity
                    and update_token is not null and suspect_since is null offset 0) a
            """
    }

    /// - Returns: the activities that were written, and whether each is new.
    private func write(_ lines: [Line], _ pace: Pace) async throws -> [Name: Bool] {
        // `fan_outs.noted` has the installations whose start pushes are being sent. `confirmNoted` comes before
        // `confirm`: if a settlement removes an installation from `noted` between the two statements, it has also
        // written the installation's row of `starts`, and `confirm` finds that row.
        let rows = try await database.pipeline(
            [
                Outbox.planning(rows: 1), Self.lockInstallations(lines), Self.lockActivities(lines),
                Self.upsert(lines), Self.confirmNoted(lines), Self.confirm(lines), Self.trim(lines),
            ] + Self.rename(lines) + Self.join(lines)
                + Self.write(pace, at: lines.map(\.report.now).max() ?? .distantPast))
        var written: [Name: Bool] = [:]
        for row in rows[3] {
            let name = Name(row: try row.decode("installation"), id: try row.decode("activity"))
            written[name] = try row.decode(Bool.self, "created")
        }
        return written
    }

    /// Locks installations before activities, as registrations do. While the activities of an installation are written,
    /// no other transaction deletes the installation or changes its choice about frequent pushes.
    private static func lockInstallations(_ lines: [Line]) -> PostgresQuery {
        "select from installations where id = any(\(Set(lines.map(\.row)).sorted())) order by id for no key update"
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

    private static func upsert(_ lines: [Line]) -> PostgresQuery {
        let reports = lines.map(\.report)
        return """
            insert into activities as a (installation, activity, app, event_key, attributes_type, state, update_token,
                registered_at, joins_at, channel_id, variant, reported_at, frequent, first_reported_at)
            select installation, activity, app, event_key, attributes_type, state::activity_state, update_token,
                case when update_token is not null then at end, case when update_token is not null then at end,
                channel_id, variant, at, i.frequent_pushes_enabled, at
            from unnest(\(lines.map(\.row)), \(reports.map(\.activity)), \(lines.map { Int32($0.report.key.app) }),
                \(reports.map(\.eventKey.rawValue)), \(reports.map(\.draft.attributesType)),
                \(reports.map(\.draft.state.rawValue)),
                \(reports.map { $0.token.map { PostgresBytes($0.bytes) } }), \(reports.map(\.draft.channelId)),
                \(lines.map(\.variant)), \(lines.map(\.report.now)))
                as r(installation, activity, app, event_key, attributes_type, state, update_token, channel_id, variant, at)
                cross join lateral (
                    select frequent_pushes_enabled from installations where id = r.installation offset 0) i
            on conflict (installation, activity) do update set event_key = excluded.event_key,
                attributes_type = excluded.attributes_type, state = excluded.state,
                update_token = coalesce(excluded.update_token, a.update_token),
                registered_at = case when excluded.update_token is null
                        or excluded.update_token = a.update_token and a.suspect_since is null
                    then a.registered_at else excluded.registered_at end,
                joins_at = case when excluded.update_token is null
                        or excluded.update_token = a.update_token and a.suspect_since is null or a.joins_at > excluded.joins_at
                    then a.joins_at else greatest(excluded.joins_at, a.joins_at + \(CrowdJoins.rest)) end,
                suspect_since = case when excluded.update_token is null then a.suspect_since end,
                reason = case when excluded.update_token is null then a.reason end,
                channel_id = coalesce(excluded.channel_id, a.channel_id),
                variant = case when a.event_key = excluded.event_key then a.variant else excluded.variant end,
                reported_at = excluded.reported_at,
                frequent = excluded.frequent
            returning installation, activity, xmax = 0 as created
            """
    }

    /// An activity stays with the variant of its first report, unless a later report names another variant.
    private static func rename(_ lines: [Line]) -> [PostgresQuery] {
        let named = lines.filter { $0.report.draft.variant != nil }
        guard !named.isEmpty else { return [] }
        return [
            """
            update activities a set variant = r.variant
            from unnest(\(named.map(\.row)), \(named.map(\.report.activity)), \(named.map(\.variant)))
                as r(installation, activity, variant)
            where a.installation = r.installation and a.activity = r.activity and a.variant <> r.variant
                and a.installation = any(\(named.map(\.row)))
            """
        ]
    }

    /// The start runs (`r`, rows of `fan_outs`) that start activities of the reported type, each with the report (`n`)
    /// and the stored activity (`a`).
    private static func runs(_ lines: [Line]) -> PostgresQuery {
        """
        unnest(\(lines.map(\.row)), \(lines.map { Int32($0.report.key.app) }), \(lines.map(\.report.eventKey.rawValue)),
            \(lines.map(\.report.draft.attributesType)), \(lines.map(\.report.activity)), \(lines.map(\.report.now)))
            as n(installation, app, event_key, attributes_type, activity, at)
        cross join lateral (
            select id, noted from fan_outs
            where event_key = n.event_key and app = n.app and policy = 'start'
                and attributes_type = n.attributes_type offset 0) r
        cross join lateral (
            select first_reported_at from activities
            where installation = n.installation and activity = n.activity offset 0) a
        """
    }

    /// Confirms starts. If an activity did not exist before the push, the push started it, even if APNs' answer to the
    /// push is not known. A start that APNs refused did not arrive. The comparison of times allows 0.25 s, because
    /// replicas' clocks may differ a little.
    private static func confirm(_ lines: [Line]) -> PostgresQuery {
        """
        update starts s set confirmed_at = n.at from \(runs(lines))
        where s.run = r.id and s.installation = n.installation and s.confirmed_at is null
            and s.state <> 'rejected' and a.first_reported_at >= s.at - interval '0.25 s'
            and s.installation = any(\(lines.map(\.row)))
        """
    }

    /// The app may report the activity before the push that started it is settled. This inserts a confirmed row of
    /// `starts` with the state `unknown`. The settlement of the push then completes that row.
    private static func confirmNoted(_ lines: [Line]) -> PostgresQuery {
        """
        insert into starts (run, installation, state, at, confirmed_at)
        select r.id, n.installation, 'unknown', n.at, n.at from \(runs(lines))
        where n.installation = any(r.noted) and a.first_reported_at = n.at
        on conflict (run, installation) do nothing
        """
    }

    /// If an activity's token came or changed with this report, adds the activity to its event's crowd.
    private static func join(_ lines: [Line]) -> [PostgresQuery] {
        let joining = lines.filter { $0.report.token != nil }
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
            select x.id from unnest(\(Set(lines.map(\.row)).sorted())) as n(installation) cross join lateral (
                select id from activities where installation = n.installation
                order by (state in ('active', 'stale')) desc, reported_at desc, id desc
                offset \(DeviceBounds.activities)) x))
        """
    }

    /// Moves `tokens_paced_until` of installations that brought tokens. The installations' rows are locked, so the
    /// tokens of other requests are counted, too.
    private static func write(_ pace: Pace, at now: Date) -> [PostgresQuery] {
        guard !pace.counts.isEmpty else { return [] }
        let counts = pace.counts.sorted { $0.key < $1.key }
        return [
            """
            update installations i set tokens_paced_until =
                greatest(i.tokens_paced_until, \(now)) + make_interval(secs => r.n * \(TokenPace.interval))
            from unnest(\(counts.map(\.key)), \(counts.map(\.value))) as r(id, n)
            where i.id = r.id and i.id = any(\(counts.map(\.key)))
            """
        ]
    }
}

internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

extension PostgresStartStore {
    package func report(
        of key: EventKey, within reach: AppReach, now: Date
    ) async throws -> [(audience: Audience, report: StartReport)]? {
        try await database.transaction { connection in
            try await EventReach.require(reach, event: key, on: connection)
            let rows = try await connection.query(Self.standings(of: key))
            guard !rows.isEmpty else { return nil }
            var reports: [(audience: Audience, report: StartReport)] = []
            for row in rows {
                let standing = try Standing(row)
                reports.append((standing.audience, try await Self.report(of: standing, now: now, on: connection)))
            }
            return reports
        }
    }

    private static func report(
        of standing: Standing, now: Date, on connection: PostgresConnection
    ) async throws -> StartReport {
        let isOver = standing.isOver(now: now)
        var report = StartReport(
            state: standing.state(isOver: isOver), startedAt: standing.startedAt, finishedAt: standing.finishedAt)
        var settled = 0
        if let run = standing.run {
            let rows = try await connection.query(
                """
                select state, reason, count(*) as n, count(confirmed_at) as confirmed from starts
                where run = \(run) group by state, reason
                """)
            for row in rows { settled += try report.add(row) }
        }
        if let closed = standing.closed {
            report.counts.followers = closed.followers
            report.counts.ineligible = closed.ineligible
        } else {
            let missing = try await missing(
                run: standing.run ?? 0, app: standing.app, topics: standing.topics,
                attributesType: standing.declaration.attributesType, on: connection)
            report.counts.ineligible = missing.ineligible
            report.counts.followers = settled + missing.eligible + missing.ineligible.values.reduce(0, +)
            report.counts.pending = isOver || standing.isStopped ? 0 : missing.eligible
        }
        return report
    }

    /// Followers without a row in `starts`.
    struct Missing {
        /// Who will get a start, or would.
        let eligible: Int
        let tooOld: Int
        let disabled: Int
        let withoutToken: Int

        var ineligible: [StartForm.Ineligible: Int] { [.system: tooOld, .disabled: disabled, .noToken: withoutToken] }
    }

    /// Counts them as `StartForm` tells them apart, by one pass over those who follow; a test holds the two together.
    ///
    /// - Parameters:
    ///   - run: 0: none was opened.
    ///   - app: `app_environments.id`.
    static func missing(
        run: Int, app: Int, topics: [String], attributesType: String, on connection: PostgresConnection
    ) async throws -> Missing {
        let row = try await connection.query(
            """
            select count(*) filter (where form = 'eligible') as eligible,
                count(*) filter (where form = 'system') as too_old,
                count(*) filter (where form = 'disabled') as disabled,
                count(*) filter (where form = 'noToken') as without_token
            from (
                select case when i.system_version < \(SystemVersion.firstWithStarts.number) then 'system'
                    when not i.live_activities_enabled then 'disabled'
                    when t.installation is null then 'noToken' else 'eligible' end as form
                from (select distinct installation from follows where app = \(app) and topic = any(\(topics))) f
                join installations i on i.id = f.installation
                left join start_tokens t on t.installation = f.installation
                    and t.attributes_type = \(attributesType) and t.suspect_since is null
                where not exists (select from starts where run = \(run) and installation = f.installation)) m
            """
        ).first
        return Missing(
            eligible: try row?.decode("eligible") ?? 0, tooOld: try row?.decode("too_old") ?? 0,
            disabled: try row?.decode("disabled") ?? 0, withoutToken: try row?.decode("without_token") ?? 0)
    }

    /// The audiences that starts go to, of an event that declares a start, with their runs and what those wait for.
    private static func standings(of key: EventKey) -> PostgresQuery {
        """
        select u.bundle_id, u.environment, u.variant, u.storage_policy, u.priority, u.delivery, ae.id as app, e.topics,
            e.starts_at, e.ends_at, s.asked_at, s.stopped_at is not null as is_stopped, \(PostgresEventStore.startColumns),
            e.ended_at is not null or e.cancelled_at is not null or l.fenced_at is not null or l.closed_at is not null
                as is_over,
            c.id is not null as has_channel, b.content_state is not null as has_content, r.id as run, r.started_at,
            r.finished_at, r.closed_at, r.followers, r.too_old, r.disabled, r.without_token,
            coalesce(cardinality(r.noted), 0) > 0 as is_sending,
            r.id is not null and (not r.is_swept or cardinality(r.noted) > 0 or \(headOfQueue) is not null) as is_left
        from (select * from events where key = \(key.rawValue)) e
        join event_starts s on s.event_key = e.key
        cross join lateral (
            select distinct bundle_id, environment from audiences where event_key = e.key offset 0) has
        join app_environments ae on \(AudienceColumns.isOfSameApp("ae", "has"))
        cross join lateral (\(AudienceColumns.first(
            of: "e.key", in: "ae", where: AudienceColumns.isSelected("n", by: "s.audiences")))) u
        join lanes l on l.id = \(CrowdRows.newsLane("u", "ae"))
        left join channels c on c.id = l.channel and c.state = 'active'
        left join broadcasts b on b.id = l.newest_broadcast
        left join start_runs r on r.event_key = e.key and r.app = ae.id
        order by u.position
        """
    }

    /// One audience, as `standings` has it.
    private struct Standing {
        let audience: Audience
        let declaration: StartDeclaration
        let app: Int
        let topics: [String]
        let run: Int?
        let startedAt: Date?
        let finishedAt: Date?
        let isStopped: Bool
        /// What was counted when the run was closed.
        let closed: (followers: Int, ineligible: [StartForm.Ineligible: Int])?
        private let window: StartWindow?
        private let isEventOver: Bool
        private let isSending: Bool
        private let isLeft: Bool
        private let mayGo: Bool

        init(_ row: PostgresRow) throws {
            audience = try AudienceColumns.audience(row)
            let declaration = try row.startDeclaration()
            self.declaration = declaration
            app = try row.decode("app")
            topics = try row.decode("topics")
            run = try row.decode("run")
            startedAt = try row.decode("started_at")
            finishedAt = try row.decode("finished_at")
            isStopped = try row.decode("is_stopped")
            isEventOver = try row.decode("is_over")
            isSending = try row.decode("is_sending")
            isLeft = try row.decode("is_left")
            window = StartWindow(
                declaration, startsAt: try row.decode("starts_at"), endsAt: try row.decode("ends_at"),
                askedAt: try row.decode("asked_at"))
            let delivery: Audience.Delivery = try row.word("delivery")
            let hasContent: Bool = try declaration.contentState != nil || row.decode("has_content")
            mayGo = try hasContent && (delivery == .tokens || row.decode("has_channel"))
            closed =
                try row.decode(Date?.self, "closed_at") == nil
                ? nil
                : (
                    try row.decode(Int?.self, "followers") ?? 0,
                    [
                        .system: try row.decode(Int?.self, "too_old") ?? 0,
                        .disabled: try row.decode(Int?.self, "disabled") ?? 0,
                        .noToken: try row.decode(Int?.self, "without_token") ?? 0,
                    ]
                )
        }

        func isOver(now: Date) -> Bool {
            closed != nil || isEventOver || window.map { $0.until <= now } ?? false
        }

        func state(isOver: Bool) -> StartReport.State {
            if isStopped { return .stopped }
            if isOver { return .done }
            if run == nil { return .scheduled }
            if !isLeft { return .done }
            return isSending || mayGo ? .running : .waiting
        }
    }
}

extension StartReport {
    /// Counts a row of states and reasons.
    ///
    /// - Returns: how many it tells of.
    fileprivate mutating func add(_ row: PostgresRow) throws -> Int {
        let count: Int = try row.decode("n")
        let state: StartState = try row.word("state")
        counts.confirmed += try row.decode(Int.self, "confirmed")
        switch state {
        case .accepted: counts.accepted += count
        case .unknown: counts.unknown += count
        case .rejected:
            counts.rejected += count
            if let reason = try row.decode(String?.self, "reason") { byReason[reason, default: 0] += count }
        }
        return count
    }
}

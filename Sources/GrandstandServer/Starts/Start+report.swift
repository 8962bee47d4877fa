internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension StartStore {
    /// The report on an event's start, with one for each of its apps within `reach`. Before the start is opened, the
    /// report has the expected counts. All counts of an app are from the same moment. The query counts all followers.
    /// Callers that ask while it runs share the result of the next query.
    ///
    /// - Throws: `event-not-found`; `invalid-request` for an event that declares no start.
    func report(
        of key: EventKey, within reach: AppReach, _ outlook: StartOutlook, now: Date
    ) async throws -> Contract.StartReport {
        try await answers.answer(StartQuestion(key: key, reach: reach, outlook: outlook)) { [reports] in
            try await reports.transaction { connection in
                // With this isolation level, a push that is sent during the count is in all of the counts or in none.
                try await connection.query("set transaction isolation level repeatable read")
                return try await Self.report(of: key, within: reach, outlook, now: now, on: connection)
            }
        }
    }

    private static func report(
        of key: EventKey, within reach: AppReach, _ outlook: StartOutlook, now: Date,
        on connection: PostgresConnection
    ) async throws -> Contract.StartReport {
        try await EventReach.require(reach, event: key, on: connection)
        let rows = try await connection.query(ReportedStart.load(key))
        guard !rows.isEmpty else {
            let events = try await connection.query("select from events where key = \(key.rawValue)")
            throw events.isEmpty ? Problem.noEvent(key) : undeclared(key)
        }
        let starts = try ReportedStart.read(rows).filter { $0.audiences.declaration != nil }
        var reports: [Contract.AudienceStart] = []
        for start in starts { reports.append(try await report(of: start, outlook, now: now, on: connection)) }
        return Contract.StartReport(
            reports, rates: starts.compactMap(\.rate), by: starts.lazy.compactMap(\.by).first, at: now)
    }

    private static func report(
        of start: ReportedStart, _ outlook: StartOutlook, now: Date, on connection: PostgresConnection
    ) async throws -> Contract.AudienceStart {
        let audiences = start.audiences
        let counted = outlook == .asItIs ? audiences : audiences.asked(at: now)
        let isOver = counted.isOver(at: now)
        let (state, waitingFor) = (outlook == .asked ? counted : audiences).state(
            at: now, isSending: start.underWay > 0, isLeft: start.isLeft, of: start.leftVariants)
        var report = Contract.AudienceStart(
            bundleId: start.audience.bundleID.rawValue, environment: .init(start.audience.environment),
            variant: start.audience.variant?.rawValue, state: state, waitingFor: waitingFor, startedAt: start.startedAt,
            finishedAt: start.finishedAt, counts: .init(), byReason: [:], perSecond: start.rate?.perSecond(at: now))
        var settled = 0
        if let run = start.run {
            let rows = try await connection.query(
                """
                select state, reason, count(*) as n, count(confirmed_at) as confirmed from starts
                where run = \(run) and state not in ('pending', 'sending') group by state, reason
                """)
            for row in rows { settled += try report.add(row) }
        }
        if isOver, let closed = start.closed {
            report.counts.ineligible = closed
        } else {
            let missing = try await missing(
                run: start.run ?? 0, app: start.app, topics: audiences.topics,
                attributesType: audiences.declaration?.attributesType ?? "", on: connection)
            // Pushes that are under way will be answered, even if the start ends before the answers come.
            let pending = isOver ? min(start.underWay, missing.eligible) : missing.eligible
            report.counts.ineligible = missing.ineligible
            report.counts.ineligible.tooLate = missing.eligible - pending
            report.counts.pending = pending
        }
        report.counts.followers = settled + report.counts.pending + report.counts.ineligible.total
        return report
    }

    /// Followers whose start is not settled.
    struct Missing {
        /// The installations that will get a start, or could have got one.
        let eligible: Int
        let tooOld: Int
        let disabled: Int
        let withoutToken: Int

        var all: Int { eligible + tooOld + disabled + withoutToken }

        var ineligible: Contract.IneligibleCounts {
            .init(system: tooOld, disabled: disabled, noToken: withoutToken, tooLate: 0)
        }
    }

    /// Counts the followers whose start is not settled, in one pass.
    ///
    /// - Parameters:
    ///   - run: the number of the run; 0: no run was opened.
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
                where not exists (select from starts where run = \(run) and installation = f.installation
                    and state not in ('pending', 'sending'))) m
            """
        ).first
        return Missing(
            eligible: try row?.decode("eligible") ?? 0, tooOld: try row?.decode("too_old") ?? 0,
            disabled: try row?.decode("disabled") ?? 0, withoutToken: try row?.decode("without_token") ?? 0)
    }
}

extension Contract.AudienceStart {
    /// Adds the row's number of starts to the count for the row's state and reason.
    ///
    /// - Returns: this number; 0 if the starts are not settled.
    fileprivate mutating func add(_ row: PostgresRow) throws -> Int {
        let count: Int = try row.decode("n")
        let state: StartState = try row.word("state")
        // If APNs refused the push, a confirmation is not counted, because the app or another sender started the
        // activity.
        if state != .rejected { counts.confirmed += try row.decode(Int.self, "confirmed") }
        switch state {
        case .pending, .sending: return 0
        case .accepted: counts.accepted += count
        case .unknown: counts.unknown += count
        case .rejected:
            counts.rejected += count
            if let reason = try row.decode(String?.self, "reason") { byReason[reason, default: 0] += count }
        }
        return count
    }
}

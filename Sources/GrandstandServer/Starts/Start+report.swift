internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Postgres

/// The question that a report on starts answers. Callers with the same question share one answer.
struct StartReportQuery: Hashable, Sendable {
    enum Outlook: Sendable {
        case asItIs
        /// With the counts that the start would have if it were requested now.
        case dryRun
        /// With the counts and the state that the start has once it is requested now.
        case requested
    }

    let key: EventKey
    let reach: AppReach
    let outlook: Outlook
}

typealias StartReports = Batch<(question: StartReportQuery, now: Date), Result<Contract.StartReport, Problem>>

extension StartStore {
    /// The report on an event's start, with one for each of its apps within `reach`. Before the start is opened, the
    /// report has the expected counts. All counts of an app are from the same moment. The query counts all followers.
    /// Callers that ask while it runs share the result of the next query.
    ///
    /// - Throws: `event-not-found`; `invalid-request` for an event that declares no start.
    func report(
        of key: EventKey, within reach: AppReach, _ outlook: StartReportQuery.Outlook = .asItIs, now: Date
    ) async throws -> Contract.StartReport {
        let question = StartReportQuery(key: key, reach: reach, outlook: outlook)
        return try await answers.run((question, now)).get()
    }

    /// Answers questions, each once for all of its callers. Then it rests, so that counts take a bounded share of the
    /// database, however many callers ask.
    static func answerBatch(_ reports: Database) -> StartReports {
        Batch(slots: 2, limit: .max, restAfter: { $0 }) { asked in
            var answers: [StartReportQuery: Result<Contract.StartReport, Problem>] = [:]
            for (question, now) in asked where answers[question] == nil {
                do {
                    let counted = try await reports.transaction { connection in
                        // With this isolation level, a push that is sent during the count is in all of the counts or
                        // in none.
                        try await connection.query("set transaction isolation level repeatable read")
                        return try await report(question, now: now, on: connection)
                    }
                    answers[question] = .success(counted)
                } catch let problem as Problem where problem.kind != .storeUnavailable {
                    answers[question] = .failure(problem)
                }
            }
            return asked.compactMap { answers[$0.question] }
        }
    }

    private static func report(
        _ question: StartReportQuery, now: Date, on connection: PostgresConnection
    ) async throws -> Contract.StartReport {
        let key = question.key
        guard try await EventReach.reaches(question.reach, event: key, on: connection) else {
            throw Problem.noEvent(key)
        }
        // The audiences of the event, app by app, each with the run of its app.
        let rows = try await connection.query(
            """
            select ae.id as app, \(StartStanding.columns), r.id as run,
                coalesce(s.asked_by, s.declared_by) as started_by, r.started_at as "startedAt",
                r.finished_at as "finishedAt", r.closed_at is not null as "isClosed",
                r.ineligible
            from (select * from events where key = \(key.rawValue)) e
            join event_starts s on s.event_key = e.key
            cross join lateral (
                select bundle_id, environment, min(position) as place from audiences where event_key = e.key
                group by bundle_id, environment offset 0) has
            join app_environments ae on \(AudienceColumns.isOfSameApp("ae", "has"))
            cross join lateral (\(AudienceColumns.toStart(of: "e.key", in: "ae"))) u
            \(StartStanding.joins)
            left join start_runs r on r.event_key = e.key and r.app = ae.id
            order by has.place, u.position
            """)
        guard !rows.isEmpty else {
            let events = try await connection.query("select from events where key = \(key.rawValue)")
            throw events.isEmpty ? Problem.noEvent(key) : undeclared(key)
        }
        var (reports, answered): ([Contract.AudienceStart], Int) = ([], 0)
        var rest = rows[...]
        while let row = rest.first {
            let run: ReportedRun = try row.read()
            let own = try rest.prefix { try $0.decode(Int.self, "app") == run.app }
            rest = rest.dropFirst(own.count)
            let found = try await report(of: own.map { try $0.read() }, run, question, now: now, on: connection)
            reports.append(found.report)
            answered += found.answered
        }
        return Contract.StartReport(reports, answered: answered, by: try rows[0].decode("started_by"), at: now)
    }

    /// What a report reads of an app's run.
    private struct ReportedRun: Decodable {
        let app: Int
        /// `nil`: no run was opened.
        let run: Int?
        let startedAt, finishedAt: Date?
        let isClosed: Bool
        /// The followers without a start, as the first report after the event's end counted them.
        let ineligible: Contract.IneligibleCounts?
    }

    /// - Parameter present: the audiences of one app.
    /// - Returns: with the number of pushes that were answered before nothing was left to send.
    private static func report(
        of present: [StartStanding], _ run: ReportedRun, _ question: StartReportQuery, now: Date,
        on connection: PostgresConnection
    ) async throws -> (report: Contract.AudienceStart, answered: Int) {
        var (counts, byReason) = (Contract.StartCounts(), [String: Int]())
        var (underWay, answered) = (0, 0)
        // If APNs refused the push, a confirmation is not counted, because the app or another sender started the
        // activity.
        let rows = try await connection.query(
            """
            select state, reason, count(*) as n,
                count(confirmed_at) filter (where state in ('accepted', 'unknown')) as confirmed,
                count(*) filter (where at <= \(run.finishedAt ?? now)) as in_time
            from starts where run = \(run.run) group by state, reason
            """)
        for row in rows {
            let (state, count): (StartRowState, Int) = (try row.word("state"), try row.decode("n"))
            counts.confirmed += try row.decode(Int.self, "confirmed")
            if state.isSettled { answered += try row.decode(Int.self, "in_time") }
            switch state {
            case .pending: break
            case .sending: underWay += count
            case .accepted: counts.accepted += count
            case .unknown: counts.unknown += count
            case .rejected:
                counts.rejected += count
                if let reason = try row.decode(String?.self, "reason") { byReason[reason, default: 0] += count }
            }
        }
        counts.ineligible = run.ineligible ?? counts.ineligible
        let asked = question.outlook == .asItIs ? present : present.map { $0.ifAsked(at: now) }
        let isOver = asked.allSatisfy { $0.isOver(at: now) }
        if !isOver || run.ineligible == nil {
            counts.ineligible = try await countOpen(
                run: run.run ?? 0, app: run.app, topics: present[0].topics,
                attributesType: present[0].start?.attributesType ?? "", on: connection)
            // Pushes that are under way will be answered, even if the start ends before the answers come.
            counts.pending = isOver ? min(underWay, counts.ineligible.tooLate) : counts.ineligible.tooLate
            counts.ineligible.tooLate -= counts.pending
            if isOver, run.isClosed {
                // The set of followers changes later.
                let text = PostgresJSON(bytes: JSONWriter.text(counts.ineligible))
                try await connection.query(
                    "update start_runs set ineligible = \(text) where id = \(run.run) and ineligible is null")
            }
        }
        counts.followers =
            counts.accepted + counts.rejected + counts.unknown + counts.pending + counts.ineligible.total
        let (state, waitingFor) = (question.outlook == .requested ? asked : present).state(
            at: now, isLeft: counts.pending > 0 || run.startedAt != nil && run.finishedAt == nil)
        let report = Contract.AudienceStart(
            bundleId: present[0].bundleId.rawValue, environment: .init(present[0].environment),
            variant: present.count > 1 || present[0].variant.isEmpty ? nil : present[0].variant, state: state,
            waitingFor: waitingFor, startedAt: run.startedAt, finishedAt: run.finishedAt, counts: counts,
            byReason: byReason,
            perSecond: Contract.StartReport.rate(answered, from: run.startedAt, until: run.finishedAt ?? now))
        return (report, answered)
    }

    /// Counts the followers whose start is not settled, in one pass.
    ///
    /// - Parameters:
    ///   - run: the number of the run; 0: no run was opened.
    ///   - app: `app_environments.id`.
    /// - Returns: the reasons; `tooLate` are those that will get a start, or could have got one.
    static func countOpen(
        run: Int, app: Int, topics: [String], attributesType: String, on connection: PostgresConnection
    ) async throws -> Contract.IneligibleCounts {
        try await connection.query(
            """
            select count(*) filter (where not reached) as system,
                count(*) filter (where reached and not enabled) as disabled,
                count(*) filter (where reached and enabled and not able) as "noToken",
                count(*) filter (where reached and enabled and able) as "tooLate"
            from (
                select i.system_version >= \(SystemVersion.firstWithStarts) as reached,
                    i.live_activities_enabled as enabled, t.installation is not null as able
                from (select distinct installation from follows where app = \(app) and topic = any(\(topics))) f
                join installations i on i.id = f.installation
                left join start_tokens t on t.installation = f.installation
                    and t.attributes_type = \(attributesType) and t.suspect_since is null
                where not exists (select from starts where run = \(run) and installation = f.installation
                    and state not in ('pending', 'sending'))) m
            """
        )[0].read()
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The question that a report on starts answers. Callers with the same question share one answer.
struct StartQuestion: Hashable, Sendable {
    enum Outlook: Sendable {
        case asItIs
        /// With the counts that the start would have if it were requested now.
        case dryRun
        /// With the counts and the state that the start has once it is requested now.
        case asked
    }

    let key: EventKey
    let reach: AppReach
    let outlook: Outlook
}

extension StartStore {
    /// The report on an event's start, with one for each of its apps within `reach`. Before the start is opened, the
    /// report has the expected counts. All counts of an app are from the same moment. The query counts all followers.
    /// Callers that ask while it runs share the result of the next query.
    ///
    /// - Throws: `event-not-found`; `invalid-request` for an event that declares no start.
    func report(
        of key: EventKey, within reach: AppReach, _ outlook: StartQuestion.Outlook = .asItIs, now: Date
    ) async throws -> Contract.StartReport {
        let question = StartQuestion(key: key, reach: reach, outlook: outlook)
        return try await Database.alone { try await answers.run((question, now)).get() }
    }

    /// Answers questions, each once for all of its callers. Then it rests, so that counts take a bounded share of the
    /// database, however many callers ask.
    static func answers(
        _ reports: Database
    ) -> Batch<(question: StartQuestion, now: Date), Result<Contract.StartReport, Problem>> {
        Batch(places: 2, limit: .max, restPerWork: 1) { asked in
            var answers: [StartQuestion: Result<Contract.StartReport, Problem>] = [:]
            for (question, now) in asked where answers[question] == nil {
                do {
                    answers[question] = .success(
                        try await reports.transaction { connection in
                            // With this isolation level, a push that is sent during the count is in all of the counts
                            // or in none.
                            try await connection.query("set transaction isolation level repeatable read")
                            return try await report(question, now: now, on: connection)
                        })
                } catch let problem as Problem where problem.kind != .storeUnavailable {
                    answers[question] = .failure(problem)
                }
            }
            return asked.compactMap { answers[$0.question] }
        }
    }

    private static func report(
        _ question: StartQuestion, now: Date, on connection: PostgresConnection
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
                r.finished_at as "finishedAt", r.rate_until as "rateUntil", r.ineligible as closed,
                r.id is null or r.closed_at is not null or r.cursor is not null
                    or exists (select from starts where run = r.id and state in ('pending', 'sending')) as "isLeft",
                coalesce(r.passed_over, '{}') as "passedOver"
            from (select * from events where key = \(key.rawValue)) e
            join event_starts s on s.event_key = e.key
            cross join lateral (
                select bundle_id, environment, min(position) as place from audiences where event_key = e.key
                group by bundle_id, environment offset 0) has
            join app_environments ae on \(AudienceColumns.isOfSameApp("ae", "has"))
            cross join lateral (\(AudienceColumns.started(of: "e.key", in: "ae"))) u
            \(StartStanding.joins)
            left join start_runs r on r.event_key = e.key and r.app = ae.id
            order by has.place, u.position
            """)
        guard !rows.isEmpty else {
            let events = try await connection.query("select from events where key = \(key.rawValue)")
            throw events.isEmpty ? Problem.noEvent(key) : undeclared(key)
        }
        var (reports, rates): ([Contract.AudienceStart], [StartRate]) = ([], [])
        var rest = rows[...]
        while let row = rest.first {
            let run: RunReport = try row.read()
            let own = try rest.prefix { try $0.decode(Int.self, "app") == run.app }
            rest = rest.dropFirst(own.count)
            let (report, rate) = try await report(
                of: own.map { try $0.read() }, run, question, now: now, on: connection)
            reports.append(report)
            rates += rate
        }
        return Contract.StartReport(reports, rates: rates, by: try rows[0].decode("started_by"), at: now)
    }

    /// What a report reads of an app's run.
    private struct RunReport: Decodable {
        let app: Int
        /// `nil`: no run was opened.
        let run: Int?
        let startedAt, finishedAt, rateUntil: Date?
        /// The followers without a start when the run was closed; `nil`: the run is open, or they are not counted yet.
        let closed: Contract.IneligibleCounts?
        /// Whether a follower without a start may still get one, because the app's run was not opened, may begin again,
        /// or is not done. If only followers of some variants are left, these audiences count.
        let isLeft: Bool
        let passedOver: [String]
    }

    /// - Parameter present: the audiences of one app.
    private static func report(
        of present: [StartStanding], _ run: RunReport, _ question: StartQuestion, now: Date,
        on connection: PostgresConnection
    ) async throws -> (Contract.AudienceStart, [StartRate]) {
        var (counts, byReason, found) = (Contract.StartCounts(), [String: Int](), [StartState: Int]())
        var answered = 0
        // If APNs refused the push, a confirmation is not counted, because the app or another sender started the
        // activity.
        let rows = try await connection.query(
            """
            select state, reason, count(*) as n,
                count(confirmed_at) filter (where state in ('accepted', 'unknown')) as confirmed,
                count(*) filter (where at <= \(run.rateUntil ?? now)) as in_time
            from starts where run = \(run.run) group by state, reason
            """)
        for row in rows {
            let (state, count): (StartState, Int) = (try row.word("state"), try row.decode("n"))
            found[state, default: 0] += count
            counts.confirmed += try row.decode(Int.self, "confirmed")
            if state.isSettled { answered += try row.decode(Int.self, "in_time") }
            guard state == .rejected, let reason = try row.decode(String?.self, "reason") else { continue }
            byReason[reason, default: 0] += count
        }
        (counts.accepted, counts.rejected) = (found[.accepted] ?? 0, found[.rejected] ?? 0)
        (counts.unknown, counts.ineligible) = (found[.unknown] ?? 0, run.closed ?? counts.ineligible)
        let asked = question.outlook == .asItIs ? present : present.map { $0.asked(at: now) }
        let isOver = asked.allSatisfy { $0.isOver(at: now) }
        let underWay = found[.sending] ?? 0
        if !isOver || run.closed == nil {
            counts.ineligible = try await missing(
                run: run.run ?? 0, app: run.app, topics: present[0].topics,
                attributesType: present[0].start?.attributesType ?? "", on: connection)
            // Pushes that are under way will be answered, even if the start ends before the answers come.
            counts.pending = isOver ? min(underWay, counts.ineligible.tooLate) : counts.ineligible.tooLate
            counts.ineligible.tooLate -= counts.pending
        }
        counts.followers =
            counts.accepted + counts.rejected + counts.unknown + counts.pending + counts.ineligible.total
        let (state, waitingFor) = (question.outlook == .asked ? asked : present).state(
            at: now, isSending: underWay > 0, isLeft: run.isLeft || !run.passedOver.isEmpty,
            of: run.isLeft ? [] : run.passedOver)
        let rate = run.startedAt.map { [StartRate(answered: answered, from: $0, until: run.rateUntil)] } ?? []
        let report = Contract.AudienceStart(
            bundleId: present[0].bundleId.rawValue, environment: .init(present[0].environment),
            variant: present.count > 1 || present[0].variant.isEmpty ? nil : present[0].variant, state: state,
            waitingFor: waitingFor, startedAt: run.startedAt, finishedAt: run.finishedAt, counts: counts,
            byReason: byReason, perSecond: rate.perSecond(at: now))
        return (report, rate)
    }

    /// Counts the followers whose start is not settled, in one pass.
    ///
    /// - Parameters:
    ///   - run: the number of the run; 0: no run was opened.
    ///   - app: `app_environments.id`.
    /// - Returns: the reasons; `tooLate` are those that will get a start, or could have got one.
    static func missing(
        run: Int, app: Int, topics: [String], attributesType: String, on connection: PostgresConnection
    ) async throws -> Contract.IneligibleCounts {
        try await connection.query(
            """
            select count(*) filter (where form = 'eligible') as "tooLate",
                count(*) filter (where form = 'system') as system,
                count(*) filter (where form = 'disabled') as disabled,
                count(*) filter (where form = 'noToken') as "noToken"
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
        )[0].read()
    }
}

/// Counts the pushes that were answered between the first push and the moment when nothing was left to send. Pushes to
/// followers that joined later do not count, because their number per second depends on when the followers join.
struct StartRate: Sendable, Hashable {
    var answered: Int
    var from: Date
    /// When nothing was left to send; `nil`: something is still left.
    var until: Date?
}

extension [StartRate] {
    /// The number of pushes answered per second while one of the audiences had pushes to send; `nil`: none was answered.
    func perSecond(at now: Date) -> Double? {
        let answered = map(\.answered).reduce(0, +)
        guard answered > 0, let from = map(\.from).min(), let until = map({ $0.until ?? now }).max() else { return nil }
        return (Double(answered) / Swift.max(until.timeIntervalSince(from), 0.001)).tenths
    }
}

extension Contract.StartReport {
    /// The report of an event's start, from those of its audiences. The start is `running` as long as it is running for
    /// one audience.
    init(_ audiences: [Contract.AudienceStart], rates: [StartRate], by: String?, at now: Date) {
        let states = Set(audiences.map(\.state))
        let order: [Contract.StartState] = [.running, .waiting, .stopped, .scheduled, .done]
        let state = order.first(where: states.contains) ?? .done
        self.init(
            state: state, waitingFor: state == .waiting ? audiences.lazy.compactMap(\.waitingFor).first : nil,
            startedAt: audiences.compactMap(\.startedAt).min(),
            finishedAt: audiences.allSatisfy { $0.finishedAt != nil } ? audiences.compactMap(\.finishedAt).max() : nil,
            counts: audiences.map(\.counts).reduce(Contract.StartCounts(), +),
            byReason: audiences.reduce(into: [:]) { $0.merge($1.byReason, uniquingKeysWith: +) },
            perSecond: rates.perSecond(at: now), by: by, audiences: audiences)
    }
}

extension Contract.StartCounts {
    /// No followers.
    init() {
        self.init(
            followers: 0, accepted: 0, confirmed: 0, rejected: 0, unknown: 0, pending: 0,
            ineligible: .init(system: 0, disabled: 0, noToken: 0, tooLate: 0))
    }

    static func + (one: Self, other: Self) -> Self {
        let parts: [WritableKeyPath<Self, Int>] = [
            \.followers, \.accepted, \.confirmed, \.rejected, \.unknown, \.pending, \.ineligible.system,
            \.ineligible.disabled, \.ineligible.noToken, \.ineligible.tooLate,
        ]
        return parts.reduce(into: one) { $0[keyPath: $1] += other[keyPath: $1] }
    }
}

extension Contract.IneligibleCounts {
    /// All followers that get no start.
    var total: Int { system + disabled + noToken + tooLate }
}

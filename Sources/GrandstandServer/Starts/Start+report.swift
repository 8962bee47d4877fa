internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The assumption of a report on a start.
enum StartOutlook: Sendable, Hashable {
    case asItIs
    /// With the counts that the start would have if it were requested now.
    case dryRun
    /// With the counts and the state that the start will have once it is requested now.
    case asked
}

/// The question that a report on starts answers. Callers with the same question share one answer.
struct StartQuestion: Hashable, Sendable {
    let key: EventKey
    let reach: AppReach
    let outlook: StartOutlook
}

extension StartStore {
    /// The report on an event's start, with one for each of its apps within `reach`. Before the start is opened, the
    /// report has the expected counts. All counts of an app are from the same moment. The query counts all followers.
    /// Callers that ask while it runs share the result of the next query.
    ///
    /// - Throws: `event-not-found`; `invalid-request` for an event that declares no start.
    func report(
        of key: EventKey, within reach: AppReach, _ outlook: StartOutlook, now: Date
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
                            return try await report(
                                of: question.key, within: question.reach, question.outlook, now: now, on: connection)
                        })
                } catch let problem as Problem where problem.kind != .storeUnavailable {
                    answers[question] = .failure(problem)
                }
            }
            return asked.compactMap { answers[$0.question] }
        }
    }

    private static func report(
        of key: EventKey, within reach: AppReach, _ outlook: StartOutlook, now: Date,
        on connection: PostgresConnection
    ) async throws -> Contract.StartReport {
        try await EventReach.require(reach, event: key, on: connection)
        let rows = try await connection.query(audiences(of: key))
        guard !rows.isEmpty else {
            let events = try await connection.query("select from events where key = \(key.rawValue)")
            throw events.isEmpty ? Problem.noEvent(key) : undeclared(key)
        }
        var apps: [(app: Int, rows: [PostgresRow])] = []
        for row in rows {
            let app: Int = try row.decode("app")
            if apps.last?.app != app { apps.append((app, [])) }
            apps[apps.count - 1].rows.append(row)
        }
        var (reports, rates): ([Contract.AudienceStart], [StartRate]) = ([], [])
        for (app, rows) in apps {
            let rate = try StartRate(rows[0])
            if let rate { rates.append(rate) }
            reports.append(try await report(of: rows, app, rate, outlook, now: now, on: connection))
        }
        return Contract.StartReport(reports, rates: rates, by: try rows[0].decode("started_by"), at: now)
    }

    /// The audiences of an event that declares a start, app by app, with the runs of their apps.
    private static func audiences(of key: EventKey) -> PostgresQuery {
        """
        select ae.id as app, \(StartStanding.columns), r.id as run,
            coalesce(s.asked_by, s.declared_by) as started_by,
            r.started_at, r.finished_at, r.rate_from, r.rate_until, r.rate_answered, r.too_old as "closed.system",
            r.disabled as "closed.disabled", r.without_token as "closed.noToken", r.too_late as "closed.tooLate",
            w.under_way,
            r.id is null or r.closed_at is not null or r.cursor is not null or r.restart_after is not null
                or w.under_way > 0 or \(firstPending) is not null as is_left,
            coalesce(r.passed_over, '{}') as passed_over
        from (select * from events where key = \(key.rawValue)) e
        join event_starts s on s.event_key = e.key
        cross join lateral (
            select bundle_id, environment, min(position) as place from audiences where event_key = e.key
            group by bundle_id, environment offset 0) has
        join app_environments ae on \(AudienceColumns.isOfSameApp("ae", "has"))
        cross join lateral (\(AudienceColumns.selected(of: "e.key", in: "ae", by: "s.audiences"))) u
        \(StartStanding.joins)
        left join start_runs r on r.event_key = e.key and r.app = ae.id
        cross join lateral (select count(*) as under_way from starts where run = r.id and state = 'sending') w
        order by has.place, u.position
        """
    }

    /// - Parameter rows: the rows of `audiences` of one app.
    private static func report(
        of rows: [PostgresRow], _ app: Int, _ rate: StartRate?, _ outlook: StartOutlook, now: Date,
        on connection: PostgresConnection
    ) async throws -> Contract.AudienceStart {
        let row = rows[0]
        let (present, asked) = (
            try rows.map { try StartStanding($0) }, try rows.map { try StartStanding($0, askedAt: now) }
        )
        let isOver = (outlook == .asItIs ? present : asked).allSatisfy { $0.isOver(at: now) }
        // Whether a follower without a start may still get one, because the app's run was not opened, may begin again,
        // or is not done. If only followers of some variants are left, these audiences count.
        let (isLeft, passedOver): (Bool, [String]) = (try row.decode("is_left"), try row.decode("passed_over"))
        let underWay: Int = try row.decode("under_way")
        let (state, waitingFor) = (outlook == .asked ? asked : present).state(
            at: now, isSending: underWay > 0, isLeft: isLeft || !passedOver.isEmpty, of: isLeft ? [] : passedOver)
        let audience = present[0].audience
        var report = Contract.AudienceStart(
            bundleId: audience.bundleID.rawValue, environment: .init(audience.environment),
            variant: rows.count > 1 ? nil : audience.variant?.rawValue, state: state, waitingFor: waitingFor,
            startedAt: try row.decode("started_at"), finishedAt: try row.decode("finished_at"), counts: .init(),
            byReason: [:], perSecond: rate?.perSecond(at: now))
        let run: Int? = try row.decode("run")
        var settled = 0
        if let run {
            let rows = try await connection.query(
                """
                select state, reason, count(*) as n, count(confirmed_at) as confirmed from starts
                where run = \(run) and state not in ('pending', 'sending') group by state, reason
                """)
            for row in rows { settled += try report.add(row) }
        }
        if isOver, let closed = try row.read(Closed.self).closed {
            report.counts.ineligible = closed
        } else {
            var missing = try await missing(
                run: run ?? 0, app: app, topics: present[0].topics,
                attributesType: present[0].declaration?.attributesType ?? "", on: connection)
            // Pushes that are under way will be answered, even if the start ends before the answers come.
            report.counts.pending = isOver ? min(underWay, missing.tooLate) : missing.tooLate
            missing.tooLate -= report.counts.pending
            report.counts.ineligible = missing
        }
        report.counts.followers = settled + report.counts.pending + report.counts.ineligible.total
        return report
    }

    /// The followers without a start when the run was closed; `nil`: the run is open, or they are not counted yet.
    private struct Closed: Decodable {
        let closed: Contract.IneligibleCounts?
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

/// Counts the pushes that were answered between the first push and the moment when nothing was left to send. Pushes to
/// followers that joined later do not count, because their number per second depends on when the followers join.
struct StartRate: Sendable, Hashable {
    var answered: Int
    var from: Date
    /// When nothing was left to send; `nil`: something is still left.
    var until: Date?
}

extension StartRate {
    /// The rate of the run in a row; `nil`: nothing was sent yet.
    init?(_ row: PostgresRow) throws {
        guard let from: Date = try row.decode(Date?.self, "rate_from") else { return nil }
        self.init(answered: try row.decode("rate_answered"), from: from, until: try row.decode("rate_until"))
    }

    /// The rates of several audiences as one; `nil`: no audience has a rate.
    init?(of rates: [Self]) {
        guard let from = rates.map(\.from).min() else { return nil }
        self.init(
            answered: rates.map(\.answered).reduce(0, +), from: from,
            until: rates.allSatisfy { $0.until != nil } ? rates.compactMap(\.until).max() : nil)
    }

    /// The number of pushes answered per second while there were pushes to send.
    func perSecond(at now: Date) -> Double {
        (Double(answered) / max((until ?? now).timeIntervalSince(from), 0.001)).tenths
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
            perSecond: StartRate(of: rates)?.perSecond(at: now), by: by, audiences: audiences)
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
        let (first, second) = (one.ineligible, other.ineligible)
        return Self(
            followers: one.followers + other.followers, accepted: one.accepted + other.accepted,
            confirmed: one.confirmed + other.confirmed, rejected: one.rejected + other.rejected,
            unknown: one.unknown + other.unknown, pending: one.pending + other.pending,
            ineligible: .init(
                system: first.system + second.system, disabled: first.disabled + second.disabled,
                noToken: first.noToken + second.noToken, tooLate: first.tooLate + second.tooLate))
    }
}

extension Contract.IneligibleCounts {
    /// All followers that get no start.
    var total: Int { system + disabled + noToken + tooLate }
}

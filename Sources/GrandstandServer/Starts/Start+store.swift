internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Starts of events in the tables `event_starts`, `start_runs` and `starts`: who got one, who will get one, and which
/// pushes are still due.
///
/// A start is recorded as `sending` before it is sent, so it is sent once. After a crash, a start that was recorded and
/// has no answer is `unknown`.
struct StartStore: ShardStore {
    let database: Database
    /// The connections for claims and results, so that they do not wait behind API requests.
    let dispatch: Database
    /// The connections for queries that count followers.
    let reports: Database
    let answers: Batch<(question: StartQuestion, now: Date), Result<Contract.StartReport, Problem>>

    init(_ database: Database, dispatch: Database? = nil, reports: Database? = nil) {
        self.database = database
        self.dispatch = dispatch ?? database
        self.reports = reports ?? database
        answers = Self.answers(self.reports.forLongWork)
    }

    func extendLeases(of runs: [Int], replica: UUID, until leasedUntil: Date) async throws {
        let leasedUntil = leasedUntil.inMicroseconds
        try await dispatch.query(
            """
            update start_runs set leased_until = \(leasedUntil),
                due_at = case when due_at < leased_until then due_at else \(leasedUntil) end
            where id = any(array(
                select id from start_runs where id = any(\(runs)) and leased_by = \(replica)
                order by id for no key update))
            """)
    }

    /// The next time at which a start opens or a push is due. The query reads one row of `start_runs` for each start that
    /// is being sent; there are few such starts.
    func nextDue(in environment: APNsEnvironment) async throws -> Date? {
        try await dispatch.query(
            """
            select least(
                (select opens_at from event_starts where opens_at is not null order by opens_at limit 1),
                (select min(greatest(r.leased_until, least(r.due_at, \(Self.nextStart))))
                    from (select * from start_runs where due_at is not null) r
                    cross join lateral (select environment from app_environments where id = r.app offset 0) ae
                    where ae.environment = \(environment.rawValue)::environment)) as at
            """
        ).first?.decode(Date?.self, "at")
    }

    /// When the first pending start of run `r` is due; null: none is pending but those that wait for their audience.
    static let firstPending: PostgresQuery =
        "(select due_at from starts where run = r.id and state = 'pending' order by due_at limit 1)"

    /// The same; null also while the run rests.
    static let nextStart: PostgresQuery = "(case when not r.rests then \(firstPending) end)"

    /// The number of installations that follow each topic in an app and environment, the most followed first.
    func topics(of app: AppEnvironment, _ page: PageRequest) async throws -> Contract.Page<Contract.FollowedTopic> {
        let cursor = try page.cursor.map { text throws(Problem) in try PageCursor(text) }
        let rows = try await reports.query(
            """
            select topic, followers from (
                select f.topic, count(*) as followers from follows f
                where f.app = (select ae.id from app_environments ae join apps a using (bundle_id)
                    where a.topic = \(app.bundleID.topic) and ae.environment = \(app.environment.rawValue)::environment)
                group by f.topic) t
            where \(cursor?.number)::bigint is null or followers < \(cursor?.number)
                or followers = \(cursor?.number) and topic > \(cursor?.key)
            order by followers desc, topic limit \(page.limit + 1)
            """)
        return Contract.Page(rows: try rows.read(), limit: page.limit) { PageCursor.text($0.followers, $0.topic) }
    }
}

/// The outcome of a push that starts an activity.
typealias StartOutcome = PushOutcome<StartShard.Member>

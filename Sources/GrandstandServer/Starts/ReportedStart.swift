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

/// The data of a report on an app's start: the state of its audiences and the columns of its run.
struct ReportedStart {
    /// The first of `audiences`; without its variant if there are several audiences.
    let audience: Audience
    let audiences: StartAudiences
    let app: Int
    let by: String?
    /// The number of the app's run; `nil`: no run was opened.
    let run: Int?
    let startedAt: Date?
    let finishedAt: Date?
    let rate: StartRate?
    /// The number of followers without a start when the run was closed, by reason; `nil`: the run is open, or the
    /// followers are not counted yet.
    let closed: Contract.IneligibleCounts?
    /// The number of pushes that are under way.
    let underWay: Int
    /// Whether a follower without a start may still get one, because the app's run was not opened, may begin again, or
    /// is not done.
    let isLeft: Bool
    /// The variants of the followers that may still get a start (`isLeft`); empty: any variant.
    let leftVariants: Set<String>

    /// The audiences of an event that declares a start, with the runs of their apps.
    static func load(_ key: EventKey) -> PostgresQuery {
        """
        select \(AudienceColumns.all(of: "u", as: "audience_")), ae.id as app, \(StartStanding.columns), r.id as run,
            coalesce(s.asked_by, s.declared_by) as started_by,
            r.started_at, r.finished_at, r.rate_from, r.rate_until, r.rate_answered, r.too_old, r.disabled,
            r.without_token, coalesce(r.too_late, 0) as too_late, w.under_way,
            r.id is null or r.closed_at is not null or r.cursor is not null or r.restart_after is not null
                or w.under_way > 0 or \(StartStore.firstPending) is not null as is_left,
            coalesce(r.passed_over, '{}') as passed_over
        from (select * from events where key = \(key.rawValue)) e
        join event_starts s on s.event_key = e.key
        cross join lateral (
            select distinct bundle_id, environment from audiences where event_key = e.key offset 0) has
        join app_environments ae on \(AudienceColumns.isOfSameApp("ae", "has"))
        cross join lateral (\(AudienceColumns.selected(of: "e.key", in: "ae", by: "s.audiences"))) u
        \(StartStanding.joins)
        left join start_runs r on r.event_key = e.key and r.app = ae.id
        cross join lateral (select count(*) as under_way from starts where run = r.id and state = 'sending') w
        order by u.position
        """
    }

    /// The starts of the apps in rows of `load`.
    static func read(_ rows: PostgresRows) throws -> [ReportedStart] {
        var order: [Int] = []
        var byApp: [Int: [PostgresRow]] = [:]
        for row in rows {
            let app: Int = try row.decode("app")
            if byApp[app] == nil { order.append(app) }
            byApp[app, default: []].append(row)
        }
        return try order.compactMap { try byApp[$0].map(ReportedStart.init) }
    }

    /// - Parameter rows: the rows of one app that `load` returned.
    private init(_ rows: [PostgresRow]) throws {
        let row = rows[0]
        var audience = try AudienceColumns.audience(row, as: "audience_")
        if rows.count > 1 { audience.id.variant = nil }
        self.audience = audience
        audiences = try StartAudiences(rows)
        app = try row.decode("app")
        by = try row.decode("started_by")
        run = try row.decode("run")
        startedAt = try row.decode("started_at")
        finishedAt = try row.decode("finished_at")
        let until: Date? = try row.decode("rate_until")
        rate = try row.decode(Date?.self, "rate_from").map {
            StartRate(answered: try row.decode("rate_answered"), from: $0, until: until)
        }
        closed = try row.decode(Int?.self, "too_old").map {
            .init(
                system: $0, disabled: try row.decode("disabled"), noToken: try row.decode("without_token"),
                tooLate: try row.decode("too_late"))
        }
        underWay = try row.decode("under_way")
        let isQueueLeft: Bool = try row.decode("is_left")
        let passedOver: [String] = try row.decode("passed_over")
        isLeft = isQueueLeft || !passedOver.isEmpty
        leftVariants = isQueueLeft ? [] : Set(passedOver)
    }
}

internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// A locked run, with the state of its start.
struct StartRun {
    let id: Int
    let app: Int
    /// The installations for whose pushes a replica leased the run.
    let noted: [Int]
    /// The replica that leased the run.
    let leasedBy: UUID?
    var cursor: Int
    var isSwept: Bool
    /// Whether the run is closed. If it is, the followers without a start still have to be counted.
    let isClosed: Bool
    /// Variants whose followers the sweep passed over, because nothing could be started on their audiences yet. A
    /// variant is as its column has it.
    var passedOver: Set<String>
    /// After a channel was replaced, the run looks for activities that listen to the replaced channel. This is the last
    /// activity that it looked at; `nil`: it has looked at all activities, or no channel was replaced.
    var restartAfter: Int?
    let address: APNsAddress
    let audiences: StartAudiences

    var topics: [String] { audiences.topics }

    /// A shard of this run, without members.
    func shard(_ pushes: StartAudiences.Pushes) -> StartShard {
        StartShard(
            run: id, address: address, pushes: pushes.pushes, alerts: pushes.alerts, until: pushes.until, members: [])
    }

    /// The sweep passed over the followers of some audiences. Begins the sweep again if a start can now be sent to such
    /// an audience, or if such an audience no longer exists.
    mutating func resume(_ pushes: StartAudiences.Pushes) {
        guard !passedOver.isEmpty, !pushes.waits(passedOver) else { return }
        passedOver = []
        cursor = 0
        isSwept = false
    }

    /// The shard by which followers are counted when the run is over.
    func closing(at now: Date) -> StartShard {
        StartShard(
            run: id, address: address, pushes: [], alerts: LocaleLookup([:]), until: now, members: [], closes: true)
    }

    /// A run by its number with a row for each of its audiences, as `init` reads it.
    static func load(_ id: Int) -> PostgresQuery {
        """
        select r.id, r.app, r.noted, r.leased_by, r.cursor, r.is_swept, r.closed_at is not null as is_closed,
            r.passed_over, r.restart_after, \(StartStanding.columns), \(ChannelStore.addressColumns)
        from (select * from fan_outs where id = \(id)) r
        join app_environments ae on ae.id = r.app \(ChannelStore.addressJoins)
        join events e on e.key = r.event_key
        left join event_starts s on s.event_key = r.event_key
        left join lateral (\(AudienceColumns.selected(of: "r.event_key", in: "ae", by: "s.audiences"))) u on true
        \(StartStanding.joins)
        order by u.position
        """
    }

    /// - Parameter rows: the rows that `load` returned.
    /// - Returns: `nil`: there is no such run.
    init?(_ rows: PostgresRows) throws {
        guard let row = rows.first else { return nil }
        id = try row.decode("id")
        app = try row.decode("app")
        noted = try row.decode("noted")
        leasedBy = try row.decode("leased_by")
        cursor = try row.decode("cursor")
        isSwept = try row.decode("is_swept")
        isClosed = try row.decode("is_closed")
        passedOver = Set(try row.decode([String].self, "passed_over"))
        restartAfter = try row.decode("restart_after")
        address = try ChannelStore.address(row)
        audiences = try StartAudiences(Array(rows))
    }
}

internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// A locked run, with the state of its start.
struct StartRun {
    let id: Int
    let app: Int
    /// The replica that leased the run, and how many leases there were.
    let leasedBy: UUID?
    private let leases: Int
    /// Followers up to this installation have their rows in `starts`; `nil`: all followers have.
    var cursor: Int?
    /// Whether the run is closed. If it is, the followers without a start still have to be counted.
    let isClosed: Bool
    /// Variants whose followers wait, because nothing could be started on their audiences yet. A variant is as its column
    /// has it.
    var passedOver: Set<String>
    /// After a channel was replaced, the run looks for activities that listen to the replaced channel. This is the last
    /// activity that it looked at; `nil`: it has looked at all activities, or no channel was replaced.
    var restartAfter: Int?
    let address: APNsAddress
    let audiences: StartAudiences

    var topics: [String] { audiences.topics }

    /// The next shard of this run, without members.
    func shard(_ pushes: StartAudiences.Pushes) -> StartShard {
        StartShard(
            run: id, lease: leases + 1, address: address, pushes: pushes.pushes, alerts: pushes.alerts,
            until: pushes.until, members: [])
    }

    /// Forgets which followers wait for their audiences, if a start can now be sent to such an audience, or if such an
    /// audience no longer exists.
    ///
    /// - Returns: whether these followers must be looked at again.
    mutating func resume(_ pushes: StartAudiences.Pushes) -> Bool {
        guard !passedOver.isEmpty, !pushes.waits(passedOver) else { return false }
        passedOver = []
        return true
    }

    /// The shard by which followers are counted when the run is over.
    func closing(at now: Date) -> StartShard {
        StartShard(
            run: id, lease: leases, address: address, pushes: [], alerts: LocaleLookup([:]), until: now, members: [],
            closes: true)
    }

    /// A run by its number with a row for each of its audiences, as `init` reads it.
    static func load(_ id: Int) -> PostgresQuery {
        """
        select r.id, r.app, r.leased_by, r.leases, r.cursor, r.closed_at is not null as is_closed, r.passed_over,
            r.restart_after, \(StartStanding.columns), \(ChannelStore.addressColumns)
        from (select * from start_runs where id = \(id)) r
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
        leasedBy = try row.decode("leased_by")
        leases = try row.decode("leases")
        cursor = try row.decode("cursor")
        isClosed = try row.decode("is_closed")
        passedOver = Set(try row.decode([String].self, "passed_over"))
        restartAfter = try row.decode("restart_after")
        address = try ChannelStore.address(row)
        audiences = try StartAudiences(Array(rows))
    }
}

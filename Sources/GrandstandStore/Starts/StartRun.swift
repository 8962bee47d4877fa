internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// A run that is locked, with how its start stands.
struct StartRun {
    let id: Int
    let app: Int
    /// Installations whose pushes a replica was making.
    let noted: [Int]
    /// The replica that had the lease.
    let leasedBy: UUID?
    var cursor: Int
    var isSwept: Bool
    /// Its time is over; the followers without a start are still to be counted.
    let isClosed: Bool
    let address: APNsAddress
    /// Of those whose sweep it is.
    let attributesType: String
    let standing: StartStanding

    var topics: [String] { standing.topics }
    var delivery: Audience.Delivery { standing.delivery }

    /// A shard of it, without members.
    func shard(_ push: StartStanding.Push) -> StartShard {
        StartShard(
            run: id, address: address, payload: push.payload, alerts: push.alerts, channelID: push.channelID,
            timestamp: push.timestamp, until: push.until, members: [])
    }

    /// The shard that counts when the run is over.
    func closing(at now: Date) -> StartShard {
        StartShard(
            run: id, address: address,
            payload: StartPayload(attributesType: attributesType, attributes: [], contentState: [], alert: []),
            alerts: LocaleLookup([:]), channelID: nil, timestamp: 0, until: now, members: [], closes: true)
    }

    /// A run by its number, as `init` reads it.
    static func load(_ id: Int) -> PostgresQuery {
        """
        select r.id, r.app, r.noted, r.leased_by, r.cursor, r.is_swept, r.closed_at is not null as is_closed,
            r.attributes_type as swept_type, \(StartStanding.columns), \(PostgresChannelStore.addressColumns)
        from (select * from fan_outs where id = \(id)) r
        join app_environments ae on ae.id = r.app \(PostgresChannelStore.addressJoins)
        join events e on e.key = r.event_key
        left join event_starts s on s.event_key = r.event_key
        left join lateral (
            \(AudienceColumns.first(
                of: "r.event_key", in: "ae", where: AudienceColumns.isSelected("n", by: "s.audiences")))) u on true
        \(StartStanding.joins)
        """
    }

    /// Reads a row of `load`.
    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        app = try row.decode("app")
        noted = try row.decode("noted")
        leasedBy = try row.decode("leased_by")
        cursor = try row.decode("cursor")
        isSwept = try row.decode("is_swept")
        isClosed = try row.decode("is_closed")
        attributesType = try row.decode("swept_type")
        address = try PostgresChannelStore.address(row)
        standing = try StartStanding(row)
    }
}

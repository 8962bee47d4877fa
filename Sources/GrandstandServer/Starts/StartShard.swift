internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Some pushes of a run, recorded as under way.
struct StartShard: PushShard, Hashable {
    /// What decides the bytes of a member's push.
    struct Form: Sendable, Hashable {
        /// The index in the shard's `pushes` of the push that the member gets.
        var push: Int = 0
        /// Whether the push says where the activity gets its updates from. Systems before iOS 18 do not know
        /// `input-push-channel` and `input-push-token`, and start nothing from a push with one
        /// (docs/internals/apns.md 3.2).
        var hasInput = true
        var locale: String?
    }

    struct Member: PushMember {
        var installation: Int
        var token: DeviceToken
        var form = Form()
        var row: Int { installation }
        /// The number of pushes that were already sent to the member. APNs is known not to have processed any of them.
        var attempts: Int = 0
    }

    /// The push that the members of one audience get.
    struct Push: Sendable, Hashable {
        /// The audience's variant as the column has it: empty for an audience without a variant.
        var variant = ""
        /// With the alert for members whose language has no own alert.
        var payload: BroadcastPayload
        /// Apple's ID of the audience's channel; `nil` where activities get tokens.
        var channelID: String?
        /// When the row of this channel was inserted.
        var channelMadeAt: Date?
        /// The broadcast whose content the push shows; `nil`: the push shows the declared content.
        var content: UUID?
        /// `aps.timestamp`; every later update has a higher timestamp.
        var timestamp: Int
        /// The value of `apns-expiration`.
        var expiration: Int
    }

    var run: Int
    /// The number of the run's lease under which the shard is sent.
    var lease: Int = 0
    var address: APNsAddress
    var attributesType = ""
    /// One push for each of the app's audiences that get the start now.
    var pushes: [Push] = []
    /// The alerts by language.
    var alerts = LocaleLookup<[UInt8]>([:])
    /// No push is sent after this time.
    var until: Date
    var members: [Member] = []
}

extension StartShard {
    /// Whether the run is over: nothing more is sent, and the followers without a start must still be counted.
    var closes: Bool { members.isEmpty }
    var owner: Int { run }
    var deadline: Date { until }

    func requests() -> @Sendable (Member) -> DevicePush {
        let bodies = Dictionary(uniqueKeysWithValues: Set(members.map(\.form)).map { ($0, body($0)) })
        return { member in
            // Starts of different events have different collapse IDs, so a phone that is offline gets all of them later.
            DevicePush(
                token: member.token, body: bodies[member.form] ?? [], priority: .immediate,
                expiration: pushes[member.form.push].expiration, requestID: UUID(), collapseID: "start-\(run)")
        }
    }

    private func body(_ form: Form) -> [UInt8] {
        var payload = pushes[form.push].payload
        if !form.hasInput { payload.start?.input = nil }
        payload.alert = form.locale.flatMap(alerts.value) ?? payload.alert
        return payload.body(timestamp: pushes[form.push].timestamp)
    }
}

/// A locked run, with the state of its start.
struct StartRun {
    let id: Int
    let app: Int
    /// The replica that leased the run, and how many leases there were.
    let leasedBy: UUID?
    private let leases: Int
    /// Whether this replica sends a shard of the run at this moment. Then the run's lease continues, and the run does
    /// nothing but send more.
    let isUnderWay: Bool
    /// Followers up to this installation were taken into shards; `nil`: all followers were.
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
    let audiences: [StartStanding]

    var topics: [String] { audiences[0].topics }

    /// The next shard of this run, without pushes and members.
    func shard(until: Date) -> StartShard {
        StartShard(run: id, lease: leases + (isUnderWay ? 0 : 1), address: address, until: until)
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
    init?(_ rows: PostgresRows, _ claim: ShardClaim) throws {
        guard let row = rows.first else { return nil }
        id = try row.decode("id")
        app = try row.decode("app")
        leasedBy = try row.decode("leased_by")
        leases = try row.decode("leases")
        isUnderWay = leasedBy == claim.replica && claim.holding?.contains(id) ?? false
        cursor = try row.decode("cursor")
        isClosed = try row.decode("is_closed")
        passedOver = Set(try row.decode([String].self, "passed_over"))
        restartAfter = try row.decode("restart_after")
        address = try ChannelStore.address(row)
        audiences = try rows.map { try StartStanding($0) }
    }
}

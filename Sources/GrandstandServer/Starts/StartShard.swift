internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// Some pushes of a run, recorded as under way.
struct StartShard: PushShard, Hashable {
    struct Member: Sendable, Hashable {
        var installation: Int
        var token: DeviceToken
        /// The index in the shard's `pushes` of the push that the member gets.
        var push: Int = 0
        /// The form in which the member gets the push.
        var form: StartForm
        var locale: String?
        /// The number of pushes that were already sent to the member. APNs is known not to have processed any of them.
        var attempts: Int = 0
    }

    /// The push that the members of one audience get.
    struct Push: Sendable, Hashable {
        var payload: StartPayload
        /// Apple's ID of the audience's channel; `nil` where activities get tokens.
        var channelID: String?
        /// `aps.timestamp`; every later update has a higher timestamp.
        var timestamp: Int
        /// The value of `apns-expiration`.
        var expiration: Int
    }

    var run: Int
    /// The number of the run's lease under which the shard is sent.
    var lease: Int = 0
    var address: APNsAddress
    /// One push for each of the app's audiences that get the start.
    var pushes: [Push]
    /// The alerts by language.
    var alerts: LocaleLookup<[UInt8]>
    /// No push is sent after this time.
    var until: Date
    var members: [Member]
    /// Whether the run is over: nothing more is sent, and the followers without a start must still be counted.
    var closes: Bool = false
}

extension StartShard {
    var owner: Int { run }
    var deadline: Date { until }

    func attempt(for member: Member) -> Int { member.attempts + 1 }

    func requests() -> @Sendable (Member) -> DevicePush {
        let bodies = StartBodies(self)
        return { member in
            // Starts of different events have different collapse IDs, so a phone that is offline gets all of them later.
            DevicePush(
                token: member.token, body: bodies.body(for: member), priority: .immediate,
                expiration: pushes[member.push].expiration, requestID: UUID(), collapseID: "start-\(run)")
        }
    }
}

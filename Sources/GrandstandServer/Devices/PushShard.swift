internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// Some pushes to devices that are claimed, sent and settled together.
protocol PushShard: Sendable {
    associatedtype Member: PushMember

    /// Its owner: a run of a start, or a lane.
    var owner: Int { get }
    var address: APNsAddress { get }
    var members: [Member] { get }
    /// A push expires if its next attempt would be later than this.
    var deadline: Date { get }

    /// A function that makes the request for a member. The parts that requests have in common are made once.
    func requests() -> @Sendable (Member) -> DevicePush
}

/// An addressee of a push.
protocol PushMember: Sendable, Hashable {
    /// The number of its row, an installation or an activity.
    var row: Int { get }
    var token: DeviceToken { get }
    /// The pushes that it was sent before.
    var attempts: Int { get }
}

/// The outcome of one push of a shard.
struct PushOutcome<Member: PushMember>: Sendable, Hashable {
    var member: Member
    /// When the push was made.
    var sentAt: Date
    /// The consequence of APNs' answer; `nil`: the push was not made.
    var verdict: TokenVerdict?
}

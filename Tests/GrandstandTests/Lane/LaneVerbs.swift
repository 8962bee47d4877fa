internal import FoundationEssentials
internal import Grandstand

/// The operations of a lane. A deliberately wrong lane replaces one of them.
struct LaneVerbs {
    var accept: (inout Lane, LaneMessage, Date) -> Void = { $0.accept($1, at: $2) }
    var take: (inout Lane, WorkClaim, () -> UUID) -> LaneMessage? = { $0.take($1, requestID: $2) }
    var settle: (inout Lane, ClaimedDelivery, Date) -> Void = { $0.settle($1, at: $2) }
    var connect: (inout Lane, Lane.Channel) -> Void = { $0.connect($1) }
    var judge: (inout Lane, [UUID: Int]) -> Void = { $0.updateExpirations($1) }
    var change: (inout Lane, Audience, Date) -> Void = { $0.change($1, at: $2) }
    var withdraw: (inout Lane, UUID, Date) -> Bool = { $0.withdraw($1, at: $2) }
    var due: (Lane, Date) -> Date? = { $0.dueTime(at: $1) }
}

extension ClaimedDelivery {
    /// A message of a lane, with what became of it.
    init(_ message: LaneMessage, of lane: Lane, by replica: UUID, _ verdict: Verdict?, at time: Date) {
        let app = lane.audience.app
        let address = APNsAddress(
            bundleID: app.bundleID, environment: app.environment, credentials: Credentials(teamID: "", keyID: ""))
        self.init(lane: lane.id, message: message, address: address, body: [], replica: replica)
        self = settled(verdict, at: time)
    }
}

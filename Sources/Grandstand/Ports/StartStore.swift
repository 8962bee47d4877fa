package import FoundationEssentials

/// The starts of events: their recipients, past and to come, and what is left to do.
///
/// A start is noted before it leaves, so it leaves once: after a crash an installation that was noted and has no answer
/// is `unknown`.
package protocol StartStore: ShardStore where Shard == StartShard {
    /// Leases due runs of an environment, opens those whose time has come, closes those whose time is over, and takes
    /// the next shard of each: followers in order of their installations, then late ones and those to be tried again.
    /// The shards that are returned are noted as under way when this returns.
    func claim(_ claim: StartClaim) async throws -> [StartShard]

    /// Records the outcomes of a shard's pushes, prunes tokens by the answers, and gives the run back. A lease that has
    /// gone to another replica changes nothing: that one has counted the shard as unknown.
    func settle(_ shard: StartShard, _ verdicts: [StartOutcome], replica: UUID, now: Date) async throws

    /// Asks for the event's start now instead of at its time, or for what of it was stopped to go on.
    ///
    /// - Returns: who asked for it: somebody else when it ran already, and nothing changed.
    /// - Throws: `event-not-found`, `event-ended`; `invalid-request` for an event that declares no start, or whose
    ///   start's time is over; `forbidden` out of `reach`.
    @discardableResult
    func startNow(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> String?

    /// Stops what of the event's start has not gone. Does nothing when it was stopped already.
    ///
    /// - Throws: as `startNow`.
    func stop(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws

    /// What has become of an event's start for each of its audiences within `reach`; before it was opened, the counts
    /// of what would be. The counts of an audience are of one moment. It counts all followers: a caller that asks
    /// meanwhile shares the next count.
    ///
    /// - Returns: `nil`: there is no such event, or it declares no start.
    /// - Throws: `forbidden` out of `reach`.
    func report(of key: EventKey, within reach: AppReach, _ outlook: StartOutlook, now: Date) async throws
        -> [AudienceStart]?

    /// How many installations follow each topic in an app and environment, the most followed first.
    func topics(of app: AppEnvironment, _ page: PageRequest) async throws -> Page<TopicFollowers>
}

/// The assumption under which a report tells of a start.
package enum StartOutlook: Sendable, Hashable {
    case asItIs
    /// With the counts that would be if it was asked for now.
    case dryRun
    /// With the counts and the state that it has once it is asked for now.
    case asked
}

package typealias AudienceStart = (audience: Audience, report: StartReport)

/// A topic and how many follow it.
package struct TopicFollowers: Sendable, Hashable {
    package var topic: Topic
    package var followers: Int

    package init(topic: Topic, followers: Int) {
        self.topic = topic
        self.followers = followers
    }
}

package typealias StartClaim = ShardClaim

package typealias StartOutcome = PushOutcome<StartShard.Member>

package import FoundationEssentials

/// The starts of events: who got one, who will get one, and which pushes are still due.
///
/// A start is recorded before it is sent, so it is sent once. After a crash, an installation that was recorded and has
/// no answer is `unknown`.
package protocol StartStore: ShardStore where Shard == StartShard {
    /// Opens the runs whose time has come. Then leases due runs of an environment, closes leased runs whose time is
    /// over, and takes the next shard of each other leased run. First come the followers in order of their
    /// installations, then late followers and pushes to be tried again. The returned shards are already recorded as
    /// under way.
    func claim(_ claim: StartClaim) async throws -> [StartShard]

    /// Records the outcomes of a shard's pushes, removes tokens as the answers require, and ends the lease. If another
    /// replica has the lease by now, nothing changes, because that replica has counted the shard as unknown.
    func settle(_ shard: StartShard, _ verdicts: [StartOutcome], replica: UUID, now: Date) async throws

    /// Sends the event's start now instead of at its planned time, or resumes a stopped start.
    ///
    /// - Returns: who requested the start. If the start already ran, this is the earlier caller, and nothing changed.
    /// - Throws: `event-not-found`, `event-ended`; `invalid-request` for an event that declares no start, or whose
    ///   start's time is over; `forbidden` for an event out of `reach`.
    @discardableResult
    func startNow(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws -> String?

    /// Stops the event's start: pushes that were not sent yet are not sent. Does nothing if it is already stopped.
    ///
    /// - Throws: as `startNow`.
    func stop(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws

    /// The report on an event's start for each of its audiences within `reach`. Before the start is opened, the report
    /// has the expected counts. All counts of an audience are from the same moment. The query counts all followers.
    /// Callers that ask while it runs share the result of the next query.
    ///
    /// - Returns: `nil`: there is no such event, or it declares no start.
    /// - Throws: `forbidden` for an event out of `reach`.
    func report(of key: EventKey, within reach: AppReach, _ outlook: StartOutlook, now: Date) async throws
        -> [AudienceStart]?

    /// The number of installations that follow each topic in an app and environment, the most followed first.
    func topics(of app: AppEnvironment, _ page: PageRequest) async throws -> Page<TopicFollowers>
}

/// The assumption of a report on a start.
package enum StartOutlook: Sendable, Hashable {
    case asItIs
    /// With the counts that the start would have if it were requested now.
    case dryRun
    /// With the counts and the state that the start will have once it is requested now.
    case asked
}

package typealias AudienceStart = (audience: Audience, report: StartReport)

/// A topic and the number of its followers.
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

package import APNsWire
package import FoundationEssentials

/// The starts of events: who gets one, who has got one, and what is left to do.
///
/// A start is noted before it leaves, so it leaves once: after a crash whoever was noted without an answer is `unknown`.
package protocol StartStore: Sendable {
    /// Leases due runs of an environment, opens those whose time has come, closes those whose time is over, and takes
    /// the next shard of each: followers in order of their installations, then late ones and those to be tried again.
    /// What is returned is noted as under way when this returns.
    func claim(_ claim: StartClaim) async throws -> [StartShard]

    /// Records what became of a shard's pushes, prunes tokens by the answers, and gives the run back. A lease that has
    /// gone to another replica changes nothing: that one has counted the shard as unknown.
    func settle(_ shard: StartShard, _ verdicts: [StartOutcome], replica: UUID, now: Date) async throws

    /// A replica that is still at work on these runs keeps them until `leasedUntil`.
    func extendLeases(of runs: [Int], replica: UUID, until leasedUntil: Date) async throws

    /// When the next run of the environment is to be looked at; `nil`: none.
    func nextDue(in environment: APNsEnvironment) async throws -> Date?

    /// Asks for the event's start now instead of at its time, or for what of it was stopped to go on.
    ///
    /// - Throws: `event-not-found`, `event-ended`; `invalid-request` for an event that declares no start, or whose
    ///   start's time is over; `forbidden` out of `reach`.
    func startNow(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws

    /// Stops what of the event's start has not gone. Does nothing when it was stopped already.
    ///
    /// - Throws: as `startNow`.
    func stop(_ key: EventKey, within reach: AppReach, by actor: AuditActor, now: Date) async throws

    /// What has become of an event's start for each of its audiences within `reach`; before it was opened, the counts of
    /// what would be.
    ///
    /// - Returns: `nil`: there is no such event, or it declares no start.
    /// - Throws: `forbidden` out of `reach`.
    func report(of key: EventKey, within reach: AppReach, now: Date) async throws -> [(
        audience: Audience, report: StartReport
    )]?

    /// How many installations follow each topic in an app and environment, the most followed first.
    func topics(of app: Audience.Selector, _ page: PageRequest) async throws -> Page<TopicFollowers>
}

/// A topic and how many follow it.
package struct TopicFollowers: Sendable, Hashable {
    package var topic: Topic
    package var followers: Int

    package init(topic: Topic, followers: Int) {
        self.topic = topic
        self.followers = followers
    }
}

/// What a loop of starts asks for.
package struct StartClaim: Sendable, Hashable {
    package var environment: APNsEnvironment
    package var replica: UUID
    /// The most runs to lease.
    package var limit: Int
    /// Pushes of one shard.
    package var shardSize: Int
    package var at: Date
    package var leasedUntil: Date

    package init(
        environment: APNsEnvironment, replica: UUID, limit: Int, shardSize: Int, at: Date, leasedUntil: Date
    ) {
        self.environment = environment
        self.replica = replica
        self.limit = limit
        self.shardSize = shardSize
        self.at = at
        self.leasedUntil = leasedUntil
    }
}

/// Some of a run's pushes, noted as under way.
package struct StartShard: Sendable, Hashable {
    package struct Member: Sendable, Hashable {
        package var installation: Int
        package var token: DeviceToken
        /// Of what was registered: an answer about an older token says nothing of a newer one.
        package var form: StartForm
        package var locale: String?
        /// Pushes made for it before, all of which APNs provably did not process.
        package var attempts: Int

        package init(installation: Int, token: DeviceToken, form: StartForm, locale: String?, attempts: Int = 0) {
            self.installation = installation
            self.token = token
            self.form = form
            self.locale = locale
            self.attempts = attempts
        }
    }

    package var run: Int
    package var address: APNsAddress
    package var payload: StartPayload
    /// Alerts for languages.
    package var alerts: LocaleLookup<[UInt8]>
    /// Apple's ID of the event's channel; `nil` where activities get tokens.
    package var channelID: String?
    /// `aps.timestamp`: below that of every update to come.
    package var timestamp: Int
    /// No push goes after; its epoch is the pushes' `apns-expiration`.
    package var until: Date
    package var members: [Member]

    package init(
        run: Int, address: APNsAddress, payload: StartPayload, alerts: LocaleLookup<[UInt8]>, channelID: String?,
        timestamp: Int, until: Date, members: [Member]
    ) {
        self.run = run
        self.address = address
        self.payload = payload
        self.alerts = alerts
        self.channelID = channelID
        self.timestamp = timestamp
        self.until = until
        self.members = members
    }
}

/// What became of one push of a shard.
package struct StartOutcome: Sendable, Hashable {
    package var member: StartShard.Member
    /// When the push was made.
    package var sentAt: Date
    /// `nil`: it was not made, and goes with another shard.
    package var verdict: TokenVerdict?

    package init(member: StartShard.Member, sentAt: Date, verdict: TokenVerdict?) {
        self.member = member
        self.sentAt = sentAt
        self.verdict = verdict
    }
}

internal import APNsWire
package import FoundationEssentials

/// Some pushes of a run, recorded as under way.
package struct StartShard: PushShard, Hashable {
    package struct Member: Sendable, Hashable {
        package var installation: Int
        package var token: DeviceToken
        /// The index in the shard's `pushes` of the push that the member gets.
        package var push: Int
        /// The form in which the member gets the push.
        package var form: StartForm
        package var locale: String?
        /// The number of pushes that were already sent to the member. APNs is known not to have processed any of them.
        package var attempts: Int

        package init(
            installation: Int, token: DeviceToken, push: Int = 0, form: StartForm, locale: String?, attempts: Int = 0
        ) {
            self.installation = installation
            self.token = token
            self.push = push
            self.form = form
            self.locale = locale
            self.attempts = attempts
        }
    }

    /// The push that the members of one audience get.
    package struct Push: Sendable, Hashable {
        package var payload: StartPayload
        /// Apple's ID of the audience's channel; `nil` where activities get tokens.
        package var channelID: String?
        /// `aps.timestamp`; every later update has a higher timestamp.
        package var timestamp: Int
        /// The value of `apns-expiration`.
        package var expiration: Int

        package init(payload: StartPayload, channelID: String?, timestamp: Int, expiration: Int) {
            self.payload = payload
            self.channelID = channelID
            self.timestamp = timestamp
            self.expiration = expiration
        }
    }

    package var run: Int
    package var address: APNsAddress
    /// One push for each of the app's audiences that get the start.
    package var pushes: [Push]
    /// The alerts by language.
    package var alerts: LocaleLookup<[UInt8]>
    /// No push is sent after this time.
    package var until: Date
    package var members: [Member]
    /// Whether the run is over: nothing more is sent, and the followers without a start must still be counted.
    package var closes: Bool

    package init(
        run: Int, address: APNsAddress, pushes: [Push], alerts: LocaleLookup<[UInt8]>, until: Date,
        members: [Member], closes: Bool = false
    ) {
        self.run = run
        self.address = address
        self.pushes = pushes
        self.alerts = alerts
        self.until = until
        self.members = members
        self.closes = closes
    }
}

extension StartShard {
    package var owner: Int { run }
    package var deadline: Date { until }

    package func attempt(for member: Member) -> Int { member.attempts + 1 }

    package func requests() -> @Sendable (Member) -> DevicePush {
        let bodies = StartBodies(self)
        return { member in
            // Starts of different events have different collapse IDs, so a phone that is offline gets all of them later.
            DevicePush(
                token: member.token, body: bodies.body(for: member), priority: .immediate,
                expiration: pushes[member.push].expiration, requestID: UUID(), collapseID: "start-\(run)")
        }
    }
}

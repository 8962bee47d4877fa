internal import APNsWire
package import FoundationEssentials

/// Some of a run's pushes, noted as under way.
package struct StartShard: PushShard, Hashable {
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
    /// The run is over: nothing is sent any more, and the followers without a start are still to be counted.
    package var closes: Bool

    package init(
        run: Int, address: APNsAddress, payload: StartPayload, alerts: LocaleLookup<[UInt8]>, channelID: String?,
        timestamp: Int, until: Date, members: [Member], closes: Bool = false
    ) {
        self.run = run
        self.address = address
        self.payload = payload
        self.alerts = alerts
        self.channelID = channelID
        self.timestamp = timestamp
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
        let expiration = Int(until.timeIntervalSince1970.rounded(.up))
        return { member in
            DevicePush(
                token: member.token, body: bodies.body(for: member), priority: .immediate, expiration: expiration,
                requestID: UUID())
        }
    }
}

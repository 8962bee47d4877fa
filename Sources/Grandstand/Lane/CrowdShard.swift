package import APNsWire
package import FoundationEssentials

/// Some members of a crowd, and the message for them.
package struct CrowdShard: PushShard, Hashable {
    package struct Member: Sendable, Hashable {
        /// The number of the member's activity. The members of a crowd are in the order of these numbers.
        package var activity: Int
        package var token: DeviceToken
        /// Whether the phone has frequent pushes turned off. If so, a message without a ringing alert gets priority 5,
        /// and the member gets no other message for some time.
        package var wantsFew: Bool
        /// Earlier pushes of this message to the member.
        package var attempts: Int

        package init(activity: Int, token: DeviceToken, wantsFew: Bool = false, attempts: Int = 0) {
            self.activity = activity
            self.token = token
            self.wantsFew = wantsFew
            self.attempts = attempts
        }
    }

    /// `nil`: the members joined late and get the content that the others already have.
    package var delivery: Int?
    package var lane: Int
    package var address: APNsAddress
    /// The message's request ID. Each member's ID is derived from it, so that a repetition of a push has the same ID.
    package var requestID: UUID
    /// The whole JSON body, the same for everybody.
    package var body: [UInt8]
    package var priority: APNsPriority
    /// Whether the message has an alert that rings.
    package var rings: Bool
    /// The value of `apns-expiration`.
    package var expiration: Int
    /// The number of the shard in the message. The settlement names it, so that a repeated settlement changes nothing.
    package var number: Int
    package var expiresAt: Date
    package var members: [Member]
    package var step: FanOut.Step

    package init(
        delivery: Int?, lane: Int, address: APNsAddress, requestID: UUID, body: [UInt8], priority: APNsPriority,
        rings: Bool, expiration: Int, number: Int, expiresAt: Date, members: [Member], step: FanOut.Step
    ) {
        self.delivery = delivery
        self.lane = lane
        self.address = address
        self.requestID = requestID
        self.body = body
        self.priority = priority
        self.rings = rings
        self.expiration = expiration
        self.number = number
        self.expiresAt = expiresAt
        self.members = members
        self.step = step
    }

    /// The progress of the message after these outcomes. A push without an answer is sent again, because the same
    /// message changes nothing on a device.
    package func progress(_ outcomes: [PushOutcome<Member>]) -> FanOut.Progress {
        var progress = FanOut.Progress(step)
        var reasons: [String: Int] = [:]
        for outcome in outcomes {
            switch outcome.verdict {
            case .accepted: progress.accepted += 1
            // A suspect token does not count as gone: it may be valid for another topic or environment.
            case .rejected(let reason), .suspect(let reason):
                progress.rejected += 1
                reasons[reason, default: 0] += 1
            case .expired(let reason):
                progress.expired += 1
                reasons[reason, default: 0] += 1
            case .gone(let reason, _):
                progress.gone += 1
                reasons[reason, default: 0] += 1
            case .retry(_, let reason), .unknown(let reason):
                progress.again += 1
                reasons[reason, default: 0] += 1
            case nil: progress.again += 1
            }
        }
        progress.reason = reasons.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        return progress
    }
}

extension CrowdShard {
    package var owner: Int { lane }
    package var deadline: Date { expiresAt }

    package func attempt(for member: Member) -> Int { member.attempts + 1 }

    package func requests() -> @Sendable (Member) -> DevicePush {
        { member in
            DevicePush(
                token: member.token, body: body,
                priority: member.wantsFew && !rings ? min(priority, .powerAware) : priority, expiration: expiration,
                requestID: requestID.numbered(member.activity))
        }
    }
}

extension UUID {
    /// A UUID derived from this one and a number. Numbers of less than 56 bits do not change version and variant.
    fileprivate func numbered(_ number: Int) -> UUID {
        var bytes = uuid
        withUnsafeMutableBytes(of: &bytes) { bytes in
            withUnsafeBytes(of: UInt64(truncatingIfNeeded: number).bigEndian) { number in
                for index in number.indices { bytes[index + 8] ^= number[index] }
            }
        }
        return UUID(uuid: bytes)
    }
}

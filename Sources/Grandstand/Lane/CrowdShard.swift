package import APNsWire
package import FoundationEssentials

/// Some members of a crowd, and the message they are to get.
package struct CrowdShard: PushShard, Hashable {
    package struct Member: Sendable, Hashable {
        /// Its number, which orders the crowd.
        package var activity: Int
        package var token: DeviceToken

        package init(activity: Int, token: DeviceToken) {
            self.activity = activity
            self.token = token
        }
    }

    /// `nil`: the members are late, and get the content that the others have.
    package var delivery: Int?
    package var lane: Int
    package var address: APNsAddress
    /// The message's `apns-request-id`, of which each member's is made: a repetition has the same.
    package var requestID: UUID
    /// The whole JSON body, the same for everybody.
    package var body: [UInt8]
    package var priority: APNsPriority
    /// The value of `apns-expiration`.
    package var expiration: Int
    /// Rounds of these members, this one included.
    package var attempts: Int
    /// The number of the message's shard, which its settlement names: a settlement that is repeated is not another's.
    package var number: Int
    package var expiresAt: Date
    package var members: [Member]
    /// The highest number that was looked at; `nil`: the members are those to be tried again.
    package var cursor: Int?
    /// No member is beyond it.
    package var isLast: Bool

    package init(
        delivery: Int?, lane: Int, address: APNsAddress, requestID: UUID, body: [UInt8], priority: APNsPriority,
        expiration: Int,
        attempts: Int, number: Int, expiresAt: Date, members: [Member], cursor: Int?, isLast: Bool
    ) {
        self.delivery = delivery
        self.lane = lane
        self.address = address
        self.requestID = requestID
        self.body = body
        self.priority = priority
        self.expiration = expiration
        self.attempts = attempts
        self.number = number
        self.expiresAt = expiresAt
        self.members = members
        self.cursor = cursor
        self.isLast = isLast
    }

    /// The outcome of its answers. A push without an answer goes again: the same message changes nothing on a device.
    package func progress(_ outcomes: [PushOutcome<Member>]) -> FanOut.Progress {
        var progress = FanOut.Progress(cursor: cursor, isSwept: isLast)
        var reasons: [String: Int] = [:]
        for outcome in outcomes {
            switch outcome.verdict {
            case .accepted: progress.accepted += 1
            // A suspect token is not gone: it may be good for another topic or environment.
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
                progress.again.append(outcome.member.activity)
                reasons[reason, default: 0] += 1
            case nil: progress.again.append(outcome.member.activity)
            }
        }
        progress.again.sort()
        progress.reason = reasons.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        return progress
    }
}

extension CrowdShard {
    package var owner: Int { lane }
    package var deadline: Date { expiresAt }

    package func attempt(for member: Member) -> Int { attempts }

    package func requests() -> @Sendable (Member) -> DevicePush {
        { member in
            DevicePush(
                token: member.token, body: body, priority: priority, expiration: expiration,
                requestID: requestID.numbered(member.activity))
        }
    }
}

extension UUID {
    /// One for each number, made of this one. Numbers of less than 56 bits leave version and variant as they are.
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

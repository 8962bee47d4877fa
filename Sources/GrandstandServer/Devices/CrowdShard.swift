internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Some members of a crowd, and the message for them.
struct CrowdShard: PushShard, Hashable {
    struct Member: Sendable, Hashable {
        /// The number of the member's activity. The members of a crowd are in the order of these numbers.
        var activity: Int
        var token: DeviceToken
        /// Whether the phone has frequent pushes turned off. If so, a message without a ringing alert gets priority 5,
        /// and the member gets no other message for some time.
        var wantsFew: Bool = false
        /// Earlier pushes of this message to the member.
        var attempts: Int = 0
    }

    /// `nil`: the members joined late and get the content that the others already have.
    var delivery: Int?
    var lane: Int
    var address: APNsAddress
    /// The message's request ID. Each member's ID is derived from it, so that a repetition of a push has the same ID.
    var requestID: UUID
    /// The whole JSON body, the same for everybody.
    var body: [UInt8]
    var priority: APNsPriority
    /// Whether the message has an alert that rings.
    var rings: Bool
    /// The value of `apns-expiration`.
    var expiration: Int
    /// The number of the shard in the message. The settlement names it, so that a repeated settlement changes nothing.
    var number: Int
    var expiresAt: Date
    var members: [Member]

    /// The progress of the message after these outcomes. A push without an answer is sent again, because the same
    /// message changes nothing on a device.
    ///
    /// - Parameter rest: what is left after them.
    static func progress(_ outcomes: [PushOutcome<Member>], _ rest: FanOut.Rest) -> FanOut.Progress {
        var progress = FanOut.Progress(rest)
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
            case .retry(_, let reason), .unknown(let reason): reasons[reason, default: 0] += 1
            case nil: break
            }
        }
        progress.reason = reasons.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        return progress
    }
}

extension CrowdShard {
    /// When a push to a member is sent again, and how many attempts it has had by now; `nil`: its outcome is final. A
    /// push that was not sent is due at once. A push without an answer is repeated with the same timestamp and request
    /// ID, which changes nothing on a device.
    ///
    /// - Parameters:
    ///   - verdict: `nil`: the push was not sent.
    ///   - attempts: the attempts before this push.
    static func again(
        _ verdict: TokenVerdict?, after attempts: Int, at now: Date, jitter: Double
    ) -> (attempts: Int, at: Date)? {
        switch verdict {
        case nil: (attempts, now)
        case .retry(let time, _): (attempts + 1, time)
        case .unknown:
            (attempts + 1, RetryPolicy.broadcasts.nextAttempt(after: attempts + 1, now: now, jitter: jitter))
        case .accepted, .rejected, .expired, .gone, .suspect: nil
        }
    }
}

extension PushOutcome<CrowdShard.Member> {
    /// Until when a member that wants few pushes, and may have got one, gets no further one without an alert.
    ///
    /// - Parameter rest: seconds between two pushes.
    func restsUntil(_ rest: TimeInterval) -> Date? {
        guard member.wantsFew else { return nil }
        return switch verdict {
        case .accepted, .unknown: sentAt.addingTimeInterval(rest).inMicroseconds
        case .retry, .rejected, .expired, .gone, .suspect, nil: nil
        }
    }
}

extension CrowdShard {
    var owner: Int { lane }
    var deadline: Date { expiresAt }

    func attempt(for member: Member) -> Int { member.attempts + 1 }

    func requests() -> @Sendable (Member) -> DevicePush {
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

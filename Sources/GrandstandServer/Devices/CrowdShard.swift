internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Some tokens of an audience, and the message for them.
struct CrowdShard: PushShard {
    struct Member: Sendable, Hashable {
        /// The number of the member's activity.
        var activity: Int
        var token: DeviceToken
        /// Whether the phone has frequent pushes turned off. If so, a message without a ringing alert gets priority 5,
        /// and the member gets no other message for some time.
        var wantsFew: Bool = false
        /// Earlier pushes of this message to the member.
        var attempts: Int = 0
        /// The newest message whose alert the member had, or may have had, before this push.
        var rang: Int = 0
    }

    /// The message, without an ID if the members joined late and get the content that the others already have. Its
    /// `attempts` are the number of the shard. The settlement names it, so that a repeated settlement changes nothing.
    let push: ClaimedDelivery
    let members: [Member]

    /// The progress of the message after these outcomes. A push without an answer is sent again, because the same
    /// message changes nothing on a device.
    ///
    /// - Parameter rest: what is left after them.
    /// - Returns: with the most frequent reason of failures.
    static func progress(
        _ outcomes: [PushOutcome<Member>], _ rest: TokenProgress
    ) -> (progress: TokenProgress, reason: String?) {
        var progress = rest
        var reasons: [String: Int] = [:]
        for outcome in outcomes {
            switch outcome.verdict {
            case .accepted: progress.accepted += 1
            // A suspect token does not count as gone: it may be valid for another topic or environment.
            case .rejected, .suspect: progress.rejected += 1
            case .expired: progress.expired += 1
            case .gone: progress.gone += 1
            case .retry, .unknown, nil: break
            }
            if let reason = outcome.verdict?.reason { reasons[reason, default: 0] += 1 }
        }
        return (progress, reasons.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key)
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

    /// If APNs did not process the push, the newest message whose alert the member may have had before; else `nil`.
    var rang: Int? {
        switch verdict {
        case .retry, nil: member.rang
        case .accepted, .unknown, .rejected, .expired, .gone, .suspect: nil
        }
    }
}

extension CrowdShard {
    var owner: Int { push.lane }
    var address: APNsAddress { push.address }
    var deadline: Date { push.message.expiresAt }

    func attempt(for member: Member) -> Int { member.attempts + 1 }

    func requests() -> @Sendable (Member) -> DevicePush {
        let message = push.message
        let few = message.alerting ? message.priority : min(message.priority, .powerAware)
        // Each member's ID is derived from the message's, so that a repetition of a push has the same ID.
        return { [body = push.body] member in
            DevicePush(
                token: member.token, body: body, priority: member.wantsFew ? few : message.priority,
                expiration: message.apnsExpiration, requestID: message.requestID.numbered(member.activity))
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

internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Some tokens of an audience, and the message for them.
struct CrowdShard: PushShard {
    struct Member: PushMember {
        /// The number of the member's activity.
        var row: Int
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
        for outcome in outcomes {
            switch outcome.verdict {
            case .accepted: progress.accepted += 1
            // A suspect token does not count as gone: it may be valid for another topic or environment.
            case .rejected, .suspect: progress.rejected += 1
            case .expired: progress.expired += 1
            case .gone: progress.gone += 1
            case .retry, .unknown, nil: break
            }
        }
        let reasons = Dictionary(grouping: outcomes.compactMap(\.verdict?.reason)) { $0 }.mapValues(\.count)
        return (progress, reasons.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key)
    }
}

extension PushOutcome<CrowdShard.Member> {
    /// What becomes of the member.
    ///
    /// - Parameter rest: seconds between two pushes to a member that wants few.
    /// - Returns:
    ///   - due: when the push is sent again; `nil`: its outcome is final. A push that was not sent is due at once. A push
    ///     without an answer is repeated with the same timestamp and request ID, which changes nothing on a device.
    ///   - tries: the pushes so far; at least one if the push is sent again.
    ///   - restsUntil: until when a member that wants few pushes, and may have got one, gets no further one without an
    ///     alert.
    ///   - rang: if APNs did not process the push, the newest message whose alert the member may have had before.
    func fate(rest: TimeInterval, at now: Date) -> (due: Date?, tries: Int, restsUntil: Date?, rang: Int?) {
        let tries = member.attempts + 1
        let rested = member.wantsFew ? sentAt.addingTimeInterval(rest).inMicroseconds : nil
        switch verdict {
        case nil: return (now, max(1, member.attempts), nil, member.rang)
        case .retry(let time, _): return (time, tries, nil, member.rang)
        case .unknown:
            let next = RetryPolicy.broadcasts.nextAttempt(after: tries, now: now, jitter: .random(in: 0..<1))
            return (next, tries, rested, nil)
        case .accepted: return (nil, 0, rested, nil)
        case .rejected, .expired, .gone, .suspect: return (nil, 0, nil, nil)
        }
    }
}

extension CrowdShard {
    var owner: Int { push.lane }
    var address: APNsAddress { push.address }
    var deadline: Date { push.message.expiresAt }

    func requests() -> @Sendable (Member) -> DevicePush {
        let message = push.message
        let few = message.alerting ? message.priority : min(message.priority, .powerAware)
        // Each member's ID is derived from the message's, so that a repetition of a push has the same ID.
        return { [body = push.body] member in
            DevicePush(
                token: member.token, body: body, priority: member.wantsFew ? few : message.priority,
                expiration: message.apnsExpiration, requestID: message.requestID.numbered(member.row))
        }
    }
}

extension UUID {
    /// A UUID derived from this one and a number. Numbers of less than 56 bits do not change version and variant.
    fileprivate func numbered(_ number: Int) -> UUID {
        var bytes = uuid
        withUnsafeMutableBytes(of: &bytes) { bytes in
            let half = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ UInt64(number).bigEndian
            bytes.storeBytes(of: half, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: bytes)
    }
}

package import APNsWire
package import FoundationEssentials

/// Some pushes to devices that are claimed, sent and settled together: starts of a run, or updates of a lane.
package struct Shard: Sendable {
    /// An addressee of a push.
    package struct Member: Sendable, Hashable {
        /// The number of its row, an installation or an activity.
        package let row: Int
        package let token: DeviceToken
        /// The index of its push in `pushes`. An update has two pushes, the second for phones that want few.
        package let push: Int
        /// The pushes that it was sent before.
        package var attempts: Int
        /// Whether the phone has frequent pushes turned off. If so, a message without a ringing alert gets priority 5,
        /// and the member gets no other message for some time.
        package let wantsFew: Bool
        /// The newest message whose alert the member had, or may have had, before this push.
        package let lastAlertID: Int

        package init(
            row: Int, token: DeviceToken, push: Int = 0, attempts: Int = 0, wantsFew: Bool = false, rang: Int = 0
        ) {
            (self.row, self.token, self.push) = (row, token, push)
            (self.attempts, self.wantsFew, self.lastAlertID) = (attempts, wantsFew, rang)
        }
    }

    /// What the pushes of some members have in common.
    package struct Push: Sendable {
        package let body: [UInt8]
        package var priority: APNsPriority
        package let expiration: Int
        /// The request IDs of the members are derived from this, so that a repetition of a push has the same ID; `nil`:
        /// each has its own.
        package let requestID: UUID?
        package let collapseID: String?

        package init(
            body: [UInt8], priority: APNsPriority, expiration: Int, requestID: UUID? = nil, collapseID: String? = nil
        ) {
            (self.body, self.priority, self.expiration) = (body, priority, expiration)
            (self.requestID, self.collapseID) = (requestID, collapseID)
        }
    }

    /// Its owner: a run of a start, or a lane.
    package var owner: Int
    /// The shard's number in its run, or the message's `attempts`. The settlement names it, so that a repeated or late settlement
    /// changes nothing.
    package var number: Int
    package var address: APNsAddress
    /// A push expires if its next attempt would be later than this.
    package var deadline: Date
    package var pushes: [Push]
    package var members: [Member]
    /// The lane's message (`deliveries.id`); `nil`: the members joined late and get the content that the others already
    /// have, or get a start.
    package var delivery: Int?
    /// The type of attributes of a start.
    package var attributesType = ""

    package init(
        owner: Int, number: Int, address: APNsAddress, deadline: Date, pushes: [Push] = [], members: [Member] = [],
        delivery: Int? = nil
    ) {
        (self.owner, self.number, self.address, self.deadline) = (owner, number, address, deadline)
        (self.pushes, self.members, self.delivery) = (pushes, members, delivery)
    }

    package func request(for member: Member) -> DevicePush {
        let push = pushes[member.push]
        return DevicePush(
            token: member.token, body: push.body, priority: push.priority, expiration: push.expiration,
            requestID: push.requestID?.numbered(member.row) ?? UUID(), collapseID: push.collapseID)
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

/// One complete request to `/3/device/…`. A repetition sends exactly the same bytes.
package struct DevicePush: Sendable, Hashable {
    package let token: DeviceToken
    /// The whole JSON body.
    package let body: [UInt8]
    package let priority: APNsPriority
    /// The value of `apns-expiration`.
    package let expiration: Int
    /// The value of `apns-id`.
    package let requestID: UUID
    /// The value of `apns-collapse-id`: for a phone that is offline, APNs keeps one push of each such ID. `nil`: there
    /// is no such header.
    package let collapseID: String?
}

/// The outcome of one push of a shard.
package struct PushOutcome: Sendable, Hashable {
    package let member: Shard.Member
    /// When the push was made.
    package let sentAt: Date
    /// The consequence of APNs' answer; `nil`: the push was not made.
    package let verdict: TokenVerdict?

    package init(member: Shard.Member, sentAt: Date, verdict: TokenVerdict?) {
        (self.member, self.sentAt, self.verdict) = (member, sentAt, verdict)
    }
}

extension [PushOutcome] {
    /// The progress of the message after these outcomes. A push without an answer is sent again, because the same
    /// message changes nothing on a device.
    ///
    /// - Parameter left: what is left after them.
    /// - Returns: with the most frequent reason of failures.
    package func progress(_ left: TokenProgress) -> (progress: TokenProgress, reason: String?) {
        var progress = left
        for outcome in self {
            switch outcome.verdict {
            case .accepted: progress.accepted += 1
            // A suspect token does not count as gone: it may be valid for another topic or environment.
            case .rejected, .suspect: progress.rejected += 1
            case .expired: progress.expired += 1
            case .gone: progress.gone += 1
            case .retry, .unknown, nil: break
            }
        }
        let reasons = Dictionary(grouping: compactMap(\.verdict?.reason)) { $0 }.mapValues(\.count)
        return (progress, reasons.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key)
    }
}

extension PushOutcome {
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
    package func fate(rest: TimeInterval, at now: Date) -> (due: Date?, tries: Int, restsUntil: Date?, rang: Int?) {
        let tries = member.attempts + 1
        let rested = member.wantsFew ? sentAt.addingTimeInterval(rest) : nil
        switch verdict {
        case nil: return (now, max(1, member.attempts), nil, member.lastAlertID)
        case .retry(let time, _): return (time, tries, nil, member.lastAlertID)
        case .unknown:
            let next = RetryPolicy.broadcasts.nextAttempt(after: tries, now: now, jitter: .random(in: 0..<1))
            return (next, tries, rested, nil)
        case .accepted: return (nil, 0, rested, nil)
        case .rejected, .expired, .gone, .suspect: return (nil, 0, nil, nil)
        }
    }
}

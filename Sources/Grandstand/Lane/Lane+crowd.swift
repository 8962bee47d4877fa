internal import APNsWire
package import FoundationEssentials
internal import GrandstandContract

/// The lanes of one audience. One of them leads: the channel's lane, or the crowd's lane if the audience is reached by
/// tokens only. The lead takes every message. Each other lane takes a message only if the lane has recipients for it.
/// In everything else the other lanes follow the lead, so each lane knows the newest content, the `end` and the last
/// timestamp.
extension Lane {
    /// Takes over the newest content, the end and the last timestamp from the lead of its audience.
    package mutating func follow(_ lead: Lane) {
        newest = lead.newest
        told = nil
        fencedAt = lead.fencedAt
        lift(to: lead.lastTimestamp)
    }

    /// Becomes the lead of its audience in place of `follower`. If this lane has no content yet, it takes the
    /// follower's newest content. If it knows no state, it takes the follower's.
    package mutating func lead(_ follower: Lane) {
        lift(to: follower.lastTimestamp)
        newest = newest ?? follower.newest
        told = told ?? follower.told
    }

    /// Makes the crowd's newest content the newest of this lane, if this lane cancelled the message with this content
    /// because the lane had no channel.
    package mutating func recall(_ crowd: Lane) {
        guard let newest = crowd.newest,
            crowd.messages.contains(where: { $0.broadcast == newest && !$0.isEnd && $0.state != .cancelled }),
            messages.contains(where: { $0.broadcast == newest && $0.state == .cancelled })
        else { return }
        self.newest = newest
    }

    /// Makes the next timestamp higher than `timestamp`. Another lane of the audience used `timestamp`, so a device may
    /// have got a message with it.
    package mutating func lift(to timestamp: Int) { lastTimestamp = max(lastTimestamp, timestamp) }

    /// Records a message that is too large for tokens. It reaches no member, and messages that wait are still sent.
    package mutating func refuse(_ message: LaneMessage, at now: Date) {
        var message = message
        message.contentBefore = newest
        if message.hasContent { newest = message.broadcast }
        if message.isEnd { fence(at: now) }
        message.refuse(at: now)
        messages.append(message)
    }

    /// Closes the lane, because its audience is reached by tokens from now on. Nothing more is sent to a channel; a
    /// request under way is settled as usual.
    ///
    /// - Returns: the messages that waited, for the crowd.
    package mutating func retireToTokens(at now: Date) -> [LaneMessage] {
        let waiting = messages.filter { !$0.state.isSettled && !isUnderWay($0) }
        closedAt = closedAt ?? now
        cancelWaiting(at: now)
        return waiting
    }

    /// Adds the messages that waited on another lane of its audience as new messages of this lane.
    ///
    /// - Parameter tooLarge: broadcasts that are too large for tokens; they are recorded as rejected.
    package mutating func takeOver(
        _ waiting: [LaneMessage], refusing tooLarge: Set<UUID>, requestID: () -> UUID, at now: Date
    ) {
        for message in waiting {
            var taken = LaneMessage(
                broadcast: message.broadcast, state: unsent, isEnd: message.isEnd,
                dismissalDate: message.dismissalDate, priority: message.priority,
                plainPriority: message.plainPriority, alerting: message.alerting, ringsUntil: message.ringsUntil,
                apnsExpiration: message.apnsExpiration, expiresAt: message.expiresAt, requestID: requestID(),
                hasContent: message.hasContent, contentBefore: message.contentBefore, contentOf: message.contentOf,
                contentBytes: message.contentBytes, alertBytes: message.alertBytes)
            if tooLarge.contains(message.broadcast) { taken.refuse(at: now) }
            messages.append(taken)
        }
        settleObsolete(at: now)
    }

    /// Lets the message that all members but those that wait have be sent on now, because one of these is due.
    package mutating func resume() {
        guard let index = messages.firstIndex(where: { !$0.state.isSettled }),
            messages[index].fanOut?.rest.isSwept ?? false
        else { return }
        messages[index].nextAttemptAt = nil
    }

    /// Leases the lane for members that joined late, if no message is under way or waits. A message that waits reaches
    /// them, too.
    ///
    /// - Returns: whether it is leased.
    package mutating func lease(for claim: LaneClaim) -> Bool {
        if let lease, lease.until > claim.at { return false }
        guard head == nil else { return false }
        lease = Lease(replica: claim.replica, until: claim.leasedUntil)
        return true
    }

    /// Ends the lease after a shard of members that joined late.
    package mutating func release(by replica: UUID, at now: Date) {
        if lease?.replica == replica { giveBack(at: now) }
    }
}

extension LaneMessage {
    /// Rejects the message as too large for tokens.
    fileprivate mutating func refuse(at now: Date) {
        settle(.rejected, at: now)
        reason = APNsReason.payloadTooLarge.rawValue
    }
}

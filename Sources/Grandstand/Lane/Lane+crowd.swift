internal import APNsWire
package import FoundationEssentials

/// The lanes of one audience: one of them leads, the channel's, or the crowd's of an audience that is reached by tokens
/// only, and takes every message. The others take the messages for which they have listeners, and follow it in
/// everything else, so each of them knows the newest content, the `end` and the last timestamp.
extension Lane {
    /// Brings the lane level with the lead of its audience.
    package mutating func follow(_ lead: Lane) {
        newest = lead.newest
        fencedAt = lead.fencedAt
        lift(to: lead.lastTimestamp)
    }

    /// Leads from now on, in place of another: what the lanes of its audience had is the newest content until there is one of
    /// its own.
    package mutating func lead(_ follower: Lane) {
        lift(to: follower.lastTimestamp)
        newest = newest ?? follower.newest
    }

    /// What was cancelled here before it went, for want of a channel, is the newest content all the same where the audience's
    /// crowd got it.
    package mutating func recall(_ crowd: Lane) {
        guard let newest = crowd.newest,
            crowd.messages.contains(where: { $0.broadcast == newest && !$0.isEnd && $0.state != .cancelled }),
            messages.contains(where: { $0.broadcast == newest && $0.state == .cancelled })
        else { return }
        self.newest = newest
    }

    /// Its next timestamp is higher than one that another lane of its audience gave: a device may have had that.
    package mutating func lift(to timestamp: Int) { lastTimestamp = max(lastTimestamp, timestamp) }

    /// Records a message that no token takes: it reaches no member, and the messages that wait go on.
    package mutating func refuse(_ message: LaneMessage, at now: Date) {
        var message = message
        message.contentBefore = newest
        if message.hasContent { newest = message.broadcast }
        if message.isEnd { fence(at: now) }
        message.refuse(at: now)
        messages.append(message)
    }

    /// Its audience is reached by tokens from now on: nothing more goes to a channel. A request under way is settled as
    /// usual.
    ///
    /// - Returns: the messages that waited, for the crowd.
    package mutating func retireToTokens(at now: Date) -> [LaneMessage] {
        let waiting = messages.filter { !$0.state.isSettled && !isUnderWay($0) }
        closedAt = closedAt ?? now
        cancelWaiting(at: now)
        return waiting
    }

    /// Takes the messages that waited on another lane of its audience, as messages of its own.
    ///
    /// - Parameter tooLarge: broadcasts that no token takes: they are only written down.
    package mutating func takeOver(
        _ waiting: [LaneMessage], refusing tooLarge: Set<UUID>, requestID: () -> UUID, at now: Date
    ) {
        for message in waiting {
            var taken = LaneMessage(
                broadcast: message.broadcast, state: unsent, isEnd: message.isEnd,
                dismissalDate: message.dismissalDate, priority: message.priority,
                plainPriority: message.plainPriority, alerting: message.alerting, ringsUntil: message.ringsUntil,
                apnsExpiration: message.apnsExpiration, expiresAt: message.expiresAt, requestID: requestID(),
                hasContent: message.hasContent, contentBefore: message.contentBefore,
                contentBytes: message.contentBytes, alertBytes: message.alertBytes, stamp: message.stamp)
            if tooLarge.contains(message.broadcast) { taken.refuse(at: now) }
            messages.append(taken)
        }
        giveWay(at: now)
    }

    /// Whether a message that waits goes to a member of the crowd: nobody gets its content by another way as well.
    package func reaches(_ activity: Int) -> Bool {
        pending.contains { message in
            guard let fanOut = message.fanOut else { return true }
            return !fanOut.isSwept && activity > fanOut.cursor
        }
    }

    /// Leases the lane for members that came late, when nothing else is under way or may go.
    ///
    /// - Returns: whether it is leased.
    package mutating func lease(for claim: LaneClaim) -> Bool {
        if let lease, lease.until > claim.at { return false }
        guard !messages.contains(where: { $0.state == .sending }) else { return false }
        lease = nil
        if let due = due(at: claim.at), due <= claim.at { return false }
        lease = Lease(replica: claim.replica, until: claim.leasedUntil)
        return true
    }

    /// Gives the lane back after members that came late.
    package mutating func release(by replica: UUID, at now: Date) {
        if lease?.replica == replica { giveBack(at: now) }
    }
}

extension LaneMessage {
    /// No token takes so much.
    fileprivate mutating func refuse(at now: Date) {
        settle(.rejected, at: now)
        reason = APNsReason.payloadTooLarge.rawValue
    }
}

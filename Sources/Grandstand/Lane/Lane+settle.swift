internal import APNsWire
package import FoundationEssentials
internal import GrandstandContract

extension Lane {
    /// The effect of a verdict.
    package enum Effect: Sendable, Hashable {
        /// Nothing changed, because another replica has the lease, or the message was already settled.
        case none
        case settled
        /// The verdict was recorded. APNs also said, with this reason, that it does not know the lane's channel, so the
        /// channel must be checked.
        case channelDoubted(reason: String)
    }

    /// Records APNs' verdict on the message under way, and ends the lease.
    package mutating func settle(_ settlement: Settlement, by replica: UUID, at now: Date) -> Effect {
        guard let index = underWay(settlement.delivery, replica) else { return .none }
        if !settlement.mayBeProcessed { messages[index].refusals += 1 }
        var effect = Effect.settled
        switch settlement.verdict {
        case .accepted(let receipt):
            messages[index].settle(.accepted, at: settlement.at)
            messages[index].uniqueID = receipt.uniqueID
            // The reasons of earlier attempts no longer apply. Only `lapsed` stays: the alert was too old to ring.
            messages[index].reason = messages[index].hasLapsed ? LaneMessage.lapsed : nil
            // `storedUntil` is about the lane's present channel. If the lane has lost the channel that the message was
            // sent to, the message does not change `storedUntil`.
            if messages[index].channelID == channel?.channelID {
                let kept = keptUntil(messages[index], settledAt: settlement.at)
                storedUntil = [storedUntil, kept].compactMap(\.self).max()
            }
        case .retry(let time, let reason):
            wait(index, until: time, reason)
        case .throttled(let time, let reason):
            wait(index, until: time, reason)
            readyAt = max(readyAt ?? time, time)
        case .rejected(let refusal):
            messages[index].settle(.rejected, at: settlement.at)
            messages[index].reason = refusal.reason.rawValue
        case .channelDoubted(let refusal, let next):
            let hasChannel = channel.map { $0.takesMessages && $0.channelID == messages[index].channelID } ?? false
            effect = hasChannel ? .channelDoubted(reason: refusal.reason.rawValue) : .settled
            // Another channel is created, unless the audience is over.
            if let next, hasChannel || fencedAt == nil {
                wait(index, until: next, refusal.reason.rawValue)
            } else {
                messages[index].settle(.rejected, at: settlement.at)
                messages[index].reason = refusal.reason.rawValue
            }
        case .expired(let reason):
            messages[index].settle(.expired, at: settlement.at)
            messages[index].reason = reason
        }
        if let notBefore = settlement.notBefore {
            readyAt = max(readyAt ?? notBefore, notBefore)
            if let next = messages[index].nextAttemptAt { messages[index].nextAttemptAt = max(next, notBefore) }
        }
        giveBack(at: now)
        return effect
    }

    /// Records the outcome of a shard of the message under way, and ends the lease. The rest of the message waits. If
    /// newer state supersedes the message, the members that were not reached yet get the newer state.
    ///
    /// - Parameters:
    ///   - number: the shard's number, as `attempts` counted it. If the shard was recorded before and only the answer
    ///     was lost, nothing changes.
    ///   - again: once the message is swept, when the first member that waits for it is due.
    /// - Returns: whether the replica still had the lease.
    package mutating func settle(
        _ progress: FanOut.Progress, of delivery: Int, number: Int, by replica: UUID, again: Date, at now: Date
    ) -> Bool {
        guard holds(delivery, number: number, by: replica), let index = underWay(delivery, replica),
            var fanOut = messages[index].fanOut
        else { return false }
        fanOut.advance(by: progress)
        messages[index].fanOut = fanOut
        messages[index].reason = progress.reason ?? messages[index].reason
        if fanOut.isDone {
            // Nothing was sent, so the lane need not wait for its interval between messages.
            if fanOut.total == 0 { readyAt = now }
            let isRefused = fanOut.accepted == 0 && fanOut.rejected + fanOut.gone > 0
            let isLate = fanOut.accepted == 0 && fanOut.expired > 0 && !isRefused
            messages[index].settle(isRefused ? .rejected : isLate ? .expired : .accepted, at: now)
            // Every member has the message, so the reasons of earlier attempts no longer apply.
            if fanOut.accepted == fanOut.total { messages[index].reason = nil }
        } else {
            messages[index].state = unsent
            if fanOut.rest.isSwept { messages[index].nextAttemptAt = again }
        }
        giveBack(at: now)
        return true
    }

    /// Whether a replica still has the lease for a shard.
    ///
    /// - Parameter delivery: `nil`: the shard is for members that joined late.
    package func holds(_ delivery: Int?, number: Int, by replica: UUID) -> Bool {
        guard let delivery else { return lease?.replica == replica && messages.allSatisfy { $0.state != .sending } }
        return underWay(delivery, replica).map { messages[$0].attempts == number } ?? false
    }

    /// Records the number of members when the message begins.
    package mutating func begin(_ fanOut: FanOut, of delivery: Int) {
        guard let index = messages.firstIndex(where: { $0.id == delivery }) else { return }
        messages[index].fanOut = fanOut
    }

    /// Ends the lease without sending; the attempt does not count.
    ///
    /// - Returns: whether the replica still had the lease.
    package mutating func release(_ delivery: Int, by replica: UUID, at now: Date) -> Bool {
        guard let index = underWay(delivery, replica) else { return false }
        messages[index].state = unsent
        messages[index].attempts -= 1
        // Nothing was sent, so the lane need not wait for its interval between messages.
        readyAt = now
        giveBack(at: now)
        return true
    }

    /// Extends the lease of a replica that still works on the lane.
    package mutating func extendLease(by replica: UUID, until time: Date) {
        if lease?.replica == replica { lease?.until = time }
    }

    private func underWay(_ delivery: Int, _ replica: UUID) -> Int? {
        guard lease?.replica == replica else { return nil }
        return messages.firstIndex { $0.id == delivery && $0.state == .sending }
    }

    private mutating func wait(_ index: Int, until time: Date, _ reason: String) {
        messages[index].state = unsent
        messages[index].nextAttemptAt = time
        messages[index].reason = reason
    }

    /// Ends the lease. If a message is under way, the replica has already claimed the lane again for that message, so
    /// the lease stays. Also settles messages that are not needed any longer; if the lane is closed, it cancels the
    /// messages that wait.
    mutating func giveBack(at now: Date) {
        if !messages.contains(where: { $0.state == .sending }) { lease = nil }
        if closedAt == nil { settleObsolete(at: now) } else { cancelWaiting(at: now) }
    }

    /// Until when APNs stores an accepted message, or a device shows the activity that the message ended. A dismissal
    /// date beyond Apple's limit counts as that limit.
    func keptUntil(_ message: LaneMessage, settledAt settled: Date) -> Date? {
        let stored = message.apnsExpiration > 0 ? message.expiresAt : nil
        guard message.isEnd, let date = message.dismissalDate else { return stored }
        let latest = Int(settled.timeIntervalSince1970.rounded(.down)) + APNsLimits.endedActivityLifetime
        return max(stored ?? .distantPast, Date(timeIntervalSince1970: Double(min(date, latest))))
    }
}

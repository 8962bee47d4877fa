internal import APNsWire
package import FoundationEssentials
package import GrandstandContract

extension Lane {
    /// Records what became of the message under way, and ends the lease. Nothing changes if another replica has the
    /// lease, or if the message was already settled.
    ///
    /// - Returns: the reason with which APNs said that it does not know the lane's channel, so that the channel must be
    ///   checked; `nil`: it did not say so.
    @discardableResult
    package mutating func settle(_ delivery: ClaimedDelivery, at now: Date) -> String? {
        guard let id = delivery.message.id, let index = sendingIndex(id, delivery.replica) else { return nil }
        guard let verdict = delivery.verdict else {
            messages[index].state = unsentState(.channel)
            messages[index].attempts -= 1
            // Nothing was sent, so the lane need not wait for its interval between messages.
            self[.channel].readyAt = now
            giveBack(.channel, at: now)
            return nil
        }
        if !delivery.mayHaveBeenProcessed { messages[index].unprocessed += 1 }
        var doubt: String?
        switch verdict {
        case .accepted(let receipt):
            messages[index].settle(.accepted, at: delivery.settledAt)
            messages[index].uniqueID = receipt.uniqueID
            // The reasons of earlier attempts no longer apply. Only `lapsed` stays: the alert was too old to ring.
            messages[index].reason = messages[index].alertLapsed ? LaneMessage.lapseReason : nil
            // `storedUntil` is about the lane's present channel. If the lane has lost the channel that the message was
            // sent to, the message does not change `storedUntil`.
            if messages[index].channelID == channel?.channelID {
                let kept = keptUntil(messages[index], settledAt: delivery.settledAt)
                storedUntil = [storedUntil, kept].compactMap(\.self).max()
            }
        case .retry(let time, let reason):
            postpone(index, until: time, reason)
        case .throttled(let time, let reason):
            postpone(index, until: time, reason)
            pace(.channel, until: time)
        case .rejected(let refusal):
            messages[index].settle(.rejected, at: delivery.settledAt, refusal.reason.rawValue)
        case .channelDoubted(let refusal, let next):
            let hasChannel = channel.map { $0.takesMessages && $0.channelID == messages[index].channelID } ?? false
            doubt = hasChannel ? refusal.reason.rawValue : nil
            // Another channel is created, unless the audience is over.
            if let next, hasChannel || fencedAt == nil {
                postpone(index, until: next, refusal.reason.rawValue)
            } else {
                messages[index].settle(.rejected, at: delivery.settledAt, refusal.reason.rawValue)
            }
        case .expired(let reason):
            messages[index].settle(.expired, at: delivery.settledAt, reason)
        }
        if let notBefore = delivery.throttledUntil {
            pace(.channel, until: notBefore)
            if let next = messages[index].nextAttemptAt { messages[index].nextAttemptAt = max(next, notBefore) }
        }
        giveBack(.channel, at: now)
        return doubt
    }

    /// Records the outcome of a shard of the message to tokens that is under way, and ends the lease. The rest of the
    /// message waits. If newer state supersedes the message, the tokens that were not reached yet get the newer state.
    ///
    /// - Parameters:
    ///   - shard: the outcome of the shard, and what is left.
    ///   - reason: the most frequent reason of failures.
    ///   - number: the shard's number, as `attempts` counted it. If the shard was recorded before and only the answer
    ///     was lost, nothing changes.
    ///   - again: once the message is swept, when the first token that waits for it is due.
    /// - Returns: whether the replica still had the lease.
    package mutating func settle(
        _ shard: TokenProgress, reason: String? = nil, of delivery: Int, number: Int, by replica: UUID, again: Date?,
        at now: Date
    ) -> Bool {
        guard holds(delivery, number: number, by: replica), let index = sendingIndex(delivery, replica),
            var progress = messages[index].tokens
        else { return false }
        progress.advance(by: shard)
        messages[index].tokens = progress
        messages[index].reason = reason ?? messages[index].reason
        if progress.isDone {
            // Nothing was sent, so the lane need not wait for its interval between messages.
            if progress.total == 0 { self[.tokens].readyAt = now }
            let isRefused = progress.accepted == 0 && progress.rejected + progress.gone > 0
            let isLate = progress.accepted == 0 && progress.expired > 0 && !isRefused
            messages[index].settle(isRefused ? .rejected : isLate ? .expired : .accepted, at: now)
            // Every token has the message, so the reasons of earlier attempts no longer apply.
            if progress.accepted == progress.total { messages[index].reason = nil }
        } else {
            messages[index].state = .queued
            messages[index].nextAttemptAt = again
        }
        giveBack(.tokens, at: now)
        return true
    }

    /// Whether a replica still has the lease for a shard.
    ///
    /// - Parameter delivery: `nil`: the shard is for tokens that came late.
    package func holds(_ delivery: Int?, number: Int, by replica: UUID) -> Bool {
        guard let delivery else {
            return self[.tokens].lease?.replica == replica && queue(.tokens).allSatisfy { $0.state != .sending }
        }
        return sendingIndex(delivery, replica).map { messages[$0].attempts == number } ?? false
    }

    /// Records the last token of a message's shard, and, when the message begins, the number of tokens.
    package mutating func reach(_ last: TokenProgress.Place?, total: Int?, of delivery: Int) {
        guard let index = messages.firstIndex(where: { $0.id == delivery }) else { return }
        messages[index].tokens?.last = last
        if let total { messages[index].tokens?.total = total }
    }

    /// Leases the lane for tokens that came late, if no message to tokens is under way or waits. A message that waits
    /// reaches them, too.
    ///
    /// - Returns: whether it is leased.
    package mutating func leaseLate(for claim: WorkClaim) -> Bool {
        if let lease = self[.tokens].lease, lease.until > claim.at { return false }
        guard queue(.tokens).isEmpty else { return false }
        self[.tokens].lease = Lease(replica: claim.replica, until: claim.leasedUntil)
        return true
    }

    /// Ends the lease after a shard of tokens that came late.
    package mutating func releaseLate(by replica: UUID, at now: Date) {
        if self[.tokens].lease?.replica == replica { giveBack(.tokens, at: now) }
    }

    /// Extends the lease of a replica that still works on the lane.
    package mutating func extendLease(_ kind: Contract.DeliveryKind = .channel, by replica: UUID, until time: Date) {
        if self[kind].lease?.replica == replica { self[kind].lease?.until = time }
    }

    private func sendingIndex(_ delivery: Int, _ replica: UUID) -> Int? {
        messages.firstIndex {
            $0.id == delivery && $0.state == .sending && self[$0.kind].lease?.replica == replica
        }
    }

    private mutating func postpone(_ index: Int, until time: Date, _ reason: String) {
        messages[index].state = unsentState(.channel)
        messages[index].nextAttemptAt = time
        messages[index].reason = reason
    }

    /// Ends the lease. If a message is under way, the replica has already claimed the lane again for that message, so
    /// the lease stays. Also settles messages that are not needed any longer; if the lane is closed, it cancels the
    /// messages that wait.
    private mutating func giveBack(_ kind: Contract.DeliveryKind, at now: Date) {
        if !queue(kind).contains(where: { $0.state == .sending }) { self[kind].lease = nil }
        if closedAt == nil { settleObsolete(at: now) } else { cancelPending(at: now) }
        if audience.delivery == .tokens { moveToTokens(at: now) }
    }

    /// Until when APNs stores an accepted message, or a device shows the activity that the message ended. A dismissal
    /// date beyond Apple's limit counts as that limit.
    func keptUntil(_ message: LaneMessage, settledAt settled: Date) -> Date? {
        let stored = message.apnsExpiration > 0 ? message.expiresAt : nil
        guard message.isEnd, let date = message.dismissalDate else { return stored }
        let latest = settled.epoch + APNsLimits.endedActivityLifetime
        return max(stored ?? .distantPast, Date(epoch: min(date, latest)))
    }
}

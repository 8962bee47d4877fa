package import FoundationEssentials
internal import GrandstandContract

extension Lane {
    /// Withdraws a broadcast that was sent to nobody, as if the lane had never got it. The content before the
    /// broadcast's is the newest again. If the broadcast superseded an update, the update is sent. If the broadcast had
    /// fenced the lane, the lane takes messages again, unless its audience was removed or its event cancelled.
    ///
    /// `messages` must have the broadcast's message and the message that its `contentBefore` names. If that message is
    /// cancelled, `messages` must also have the message that its `contentBefore` names, and so on, up to a message that
    /// is not cancelled.
    ///
    /// - Returns: whether the lane had a message to withdraw.
    package mutating func withdraw(_ broadcast: UUID, at now: Date) -> Bool {
        let indices = messages.indices.filter {
            messages[$0].broadcast == broadcast && messages[$0].reachedNobody && messages[$0].state != .cancelled
        }
        guard !indices.isEmpty else { return false }
        for index in indices {
            messages[index].settle(.cancelled, at: now)
            if messages[index].isEnd, closedAt == nil { fencedAt = nil }
        }
        restoreNewestContent { $0.state == .cancelled }
        requeueSuperseded(at: now)
        return true
    }

    /// Sets `newest` to the newest broadcast that has a message which was not undone. Each message names the broadcast
    /// whose content was the newest before it (`contentBefore`).
    mutating func restoreNewestContent(_ isUndone: (LaneMessage) -> Bool) {
        while case let all = messages.filter({ $0.broadcast == newest }), let message = all.first,
            all.allSatisfy(isUndone)
        {
            newest = message.contentBefore
        }
    }

    /// An update that the withdrawn message superseded waits again, because the update was accepted and APNs has not
    /// taken it. If the withdrawn message had been tried, the update's timestamp would be too low, so the update gets a
    /// new timestamp.
    mutating func requeueSuperseded(at now: Date) {
        guard fencedAt == nil, closedAt == nil else { return }
        for index in messages.indices
        where messages[index].broadcast == newest && messages[index].state == .superseded
            && messages[index].expiresAt > now
        {
            let kind = messages[index].kind
            if messages[index].timestamp != self[kind].lastTimestamp { messages[index].timestamp = nil }
            messages[index].state = unsentState(kind)
            messages[index].settledAt = nil
        }
    }
}

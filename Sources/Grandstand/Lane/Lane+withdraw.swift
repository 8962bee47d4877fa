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
        guard let index = messages.firstIndex(where: { $0.broadcast == broadcast }),
            messages[index].isUnsent, messages[index].state != .cancelled
        else { return false }
        messages[index].settle(.cancelled, at: now)
        if messages[index].isEnd, closedAt == nil { fencedAt = nil }
        restoreNewestContent()
        requeueSuperseded(at: now)
        return true
    }

    /// Sets `newest` to the newest broadcast whose message was not cancelled. Each message names the broadcast whose
    /// content was the newest before it (`contentBefore`). The message of that broadcast may have been on another lane
    /// of the audience.
    private mutating func restoreNewestContent() {
        while let message = messages.first(where: { $0.broadcast == newest }), message.state == .cancelled {
            newest = message.contentBefore
        }
    }

    /// An update that the withdrawn message superseded waits again, because the update was accepted and APNs has not
    /// taken it. If the withdrawn message had been tried, the update's timestamp would be too low, so the update gets a
    /// new timestamp.
    mutating func requeueSuperseded(at now: Date) {
        guard fencedAt == nil, closedAt == nil,
            let index = messages.firstIndex(where: { $0.broadcast == newest && $0.state == .superseded }),
            messages[index].expiresAt > now
        else { return }
        if messages[index].timestamp != lastTimestamp { messages[index].timestamp = nil }
        messages[index].state = unsent
        messages[index].settledAt = nil
    }
}

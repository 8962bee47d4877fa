package import FoundationEssentials

extension Lane {
    /// Withdraws a broadcast that was sent to nobody, as if the lane had never got it. The content before it is the
    /// newest again. If it superseded an update, the update is sent. If it had fenced the lane, the lane takes messages
    /// again, unless its audience was removed or its event cancelled.
    ///
    /// `messages` must have the broadcast's message. Along `contentBefore`, it must reach back to a message that is not
    /// cancelled.
    ///
    /// - Returns: whether the lane had a message to withdraw.
    package mutating func withdraw(_ broadcast: UUID, at now: Date) -> Bool {
        guard let index = messages.firstIndex(where: { $0.broadcast == broadcast }),
            messages[index].isUnsent, messages[index].state != .cancelled
        else { return false }
        messages[index].settle(.cancelled, at: now)
        if messages[index].isEnd, closedAt == nil { fencedAt = nil }
        showBefore()
        sendAfterAll(at: now)
        return true
    }

    /// Sets the newest content to the newest that was not cancelled. Each message names the one before it, which may
    /// have been on another lane of its audience.
    private mutating func showBefore() {
        while let message = messages.first(where: { $0.broadcast == newest }), message.state == .cancelled {
            newest = message.contentBefore
        }
    }

    /// An update that the withdrawn message superseded waits again, because it was accepted and APNs has not taken it.
    /// If the withdrawn message had been tried, the update's timestamp would be too low, so it gets a new one.
    mutating func sendAfterAll(at now: Date) {
        guard fencedAt == nil, closedAt == nil,
            let index = messages.firstIndex(where: { $0.broadcast == newest && $0.state == .superseded }),
            messages[index].expiresAt > now
        else { return }
        if messages[index].timestamp != lastTimestamp { messages[index].timestamp = nil }
        messages[index].state = unsent
        messages[index].settledAt = nil
    }
}

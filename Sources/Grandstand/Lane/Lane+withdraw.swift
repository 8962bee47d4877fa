package import FoundationEssentials

extension Lane {
    /// Withdraws a broadcast of which nothing was sent, as if the lane had never got it. The content before it is the
    /// newest again, and an update that it superseded is sent after all. If it had fenced the lane, the lane takes
    /// messages again, unless its audience is gone or its event cancelled.
    ///
    /// `messages` must have the broadcast's message, and reach back by `contentBefore` to a message that is not
    /// cancelled.
    ///
    /// - Returns: whether there was something to withdraw.
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

    /// The newest content is the newest that was not cancelled: each message names the one before it, which may have been
    /// on another lane of its audience.
    private mutating func showBefore() {
        while let message = messages.first(where: { $0.broadcast == newest }), message.state == .cancelled {
            newest = message.contentBefore
        }
    }

    /// An update that the withdrawn message superseded waits again, because it was accepted and APNs has not taken it.
    /// If the withdrawn message had been tried, the update's timestamp is too low, so it gets a new one.
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

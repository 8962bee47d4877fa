package import FoundationEssentials

extension Lane {
    /// Takes back a broadcast of which nothing was sent: the lane is as if it had never come. The content before it is the
    /// newest; an update that had given way to it goes after all; a lane that it had ended goes on, unless its audience is
    /// gone or its event cancelled.
    ///
    /// `messages` has the broadcast's message, and those before it as far as each is cancelled (`contentBefore`).
    ///
    /// - Returns: whether there was something to take back.
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

    /// An update that gave way to the withdrawn message was accepted, and APNs has not taken it: it waits in its place
    /// again. Where the withdrawn message had been tried, the update goes as another message: its timestamp is too low.
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

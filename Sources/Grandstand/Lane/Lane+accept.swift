package import FoundationEssentials

extension Lane {
    /// Takes a message that was accepted for the lane: older messages give way, and after an `end` nothing follows.
    package mutating func accept(_ message: LaneMessage, at now: Date) {
        var message = message
        message.state = unsent
        message.channelID = channel?.channelID
        message.contentBefore = newest
        if message.hasContent { newest = message.broadcast }
        if message.isEnd { fence(at: now) }
        messages.append(message)
        giveWay(at: now)
    }

    /// The lane's audience got its end, or its event is over: it takes no more messages; those that wait still go.
    package mutating func fence(at now: Date) { fencedAt = fencedAt ?? now }

    /// The audience was removed, or its event cancelled: messages that wait are cancelled. A request under way keeps
    /// its lease, so that it is settled.
    package mutating func close(at now: Date) {
        fence(at: now)
        closedAt = now
        cancelWaiting(at: now)
    }

    /// Takes back what the clock or the removal of its audience did at `time`: it takes messages again, unless it had got
    /// its own `end` before.
    package mutating func reopen(closedAt time: Date) {
        if fencedAt == time { fencedAt = nil }
        if closedAt == time { closedAt = nil }
    }

    mutating func cancelWaiting(at now: Date) {
        for index in messages.indices where !messages[index].state.isSettled && !isUnderWay(messages[index]) {
            settle(index, .cancelled, at: now)
        }
    }
}

internal import APNsWire
package import FoundationEssentials
internal import GrandstandContract

extension Lane {
    /// Adds an accepted message to the lane. It may supersede older messages. No message is accepted after an `end`. A
    /// message that takes the content of another broadcast counts as that broadcast's message, too, so that the other
    /// broadcast is not withdrawn.
    ///
    /// - Parameter isTooLarge: whether the message is too large for tokens. It is rejected, but its content is the newest.
    package mutating func accept(_ message: LaneMessage, isTooLarge: Bool = false, at now: Date) {
        var message = message
        message.state = unsentState(message.kind)
        if message.kind == .channel { message.channelID = channel?.channelID }
        self[message.kind].lastTimestamp = lastTimestamp
        let other = messages.last.flatMap { $0.broadcast == message.broadcast ? $0 : nil }
        message.contentBefore = other == nil ? newest : other?.contentBefore
        if message.hasContent { newest = message.broadcast }
        if message.isEnd { fence(at: now) }
        for index in messages.indices where messages[index].broadcast == message.contentOf {
            messages[index].contentCarried = true
        }
        if isTooLarge { message.rejectTooLarge(at: now) }
        messages.append(message)
        settleObsolete(at: now)
    }

    /// Keeps the alerts of these broadcasts from ringing, because a newer state undid what they say. An alert under way
    /// is not repeated.
    package mutating func silence(_ broadcasts: Set<UUID>, at now: Date) {
        for index in messages.indices where broadcasts.contains(messages[index].broadcast) && messages[index].hasAlert {
            messages[index].ringsUntil = min(messages[index].ringsUntil ?? now, now)
        }
        settleObsolete(at: now)
    }

    /// Fences the lane, because its audience got its end or its event is over. It takes no more messages; messages that
    /// wait are still sent.
    package mutating func fence(at now: Date) { fencedAt = fencedAt ?? now }

    /// Closes the lane, because its audience was removed or its event cancelled. Messages that wait are cancelled. A
    /// request under way keeps its lease, so that it is settled.
    package mutating func close(at now: Date) {
        fence(at: now)
        closedAt = now
        cancelPending(at: now)
    }

    /// Undoes the fence and the closing of a lane that happened at `time`, when the server closed the event or the
    /// audience was removed. The lane takes messages again. If the lane had got its own `end` before `time`, it stays
    /// fenced.
    package mutating func reopen(closedAt time: Date) {
        if fencedAt == time { fencedAt = nil }
        if closedAt == time { closedAt = nil }
    }

    /// Cancels the messages that wait for a channel, because none will be made.
    package mutating func giveUpChannel(at now: Date) {
        for index in messages.indices where messages[index].state == .waiting { settle(index, .cancelled, at: now) }
        if head == nil, queue(.tokens).isEmpty { close(at: now) }
    }

    mutating func cancelPending(at now: Date) {
        for index in messages.indices where !messages[index].state.isSettled && !isUnderWay(messages[index]) {
            settle(index, .cancelled, at: now)
        }
    }
}

extension LaneMessage {
    /// Rejects the message as too large for tokens.
    mutating func rejectTooLarge(at now: Date) {
        settle(.rejected, at: now, APNsReason.payloadTooLarge.rawValue)
    }
}

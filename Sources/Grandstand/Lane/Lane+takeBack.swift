package import FoundationEssentials
internal import GrandstandContract

extension Lane {
    /// Undoes an `end` or the cancellation of the event: the lane takes messages again. An `end` that waits is not
    /// sent, and an `end` under way is not repeated (`settleObsolete`). The newest content becomes that of the newest
    /// message that was not cancelled and is not an `end`. If the `end` superseded an update, the update is sent.
    ///
    /// `messages` must have every `end` of the lane. It must also reach back to the newest message that was not
    /// cancelled and is not an `end`.
    ///
    /// - Returns: whether devices may have got an `end`, and whether the newest content must therefore be sent again:
    ///   APNs may have stored the `end`, and a device that comes back online gets the stored message.
    package mutating func takeBackEnd(at now: Date) -> (mayHaveLeft: Bool, needsNews: Bool) {
        guard let since = fencedAt ?? closedAt else { return (false, false) }
        // An end that was already undone does not count.
        let left = messages.filter { message in
            message.isEnd && message.mayHaveBeenProcessed && message.state != .rejected
                && message.settledAt.map { $0 >= since } ?? true
                // Without tokens nobody got it.
                && message.tokens?.total != 0
        }
        fencedAt = nil
        closedAt = nil
        settleObsolete(at: now)
        restoreNewestContent { $0.isEnd || $0.state == .cancelled }
        requeueSuperseded(at: now)
        let lacksNews = left.contains { end in queue(end.kind).allSatisfy(\.isEnd) }
        return (!left.isEmpty, lacksNews && newest != nil)
    }

    /// Prepares a lane for the last `end` of a cancelled event. Messages that wait are cancelled, unless the lane
    /// already has an `end` of its own.
    ///
    /// - Returns: whether the last `end` must be sent: the lane has no other `end`, and has a channel or is reached by
    ///   tokens.
    package mutating func makeWayForEnd(at now: Date) -> Bool {
        guard fencedAt == nil else { return false }
        cancelPending(at: now)
        return channel != nil || audience.delivery == .tokens
    }
}

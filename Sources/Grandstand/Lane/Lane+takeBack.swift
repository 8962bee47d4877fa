package import FoundationEssentials

extension Lane {
    /// Takes back that its audience got an `end`, or that its event was cancelled: the lane takes messages again. An `end`
    /// that waits does not leave any more, and one under way is not repeated (`giveWay`). The newest content is the newest
    /// that was neither cancelled nor an end's; an update that had given way to the end goes after all.
    ///
    /// `messages` has every end of the lane, and those before the newest content as far as each is cancelled or an end.
    ///
    /// - Returns: whether devices may have got an `end`, and whether the newest content has to be sent once more then:
    ///   APNs may have stored the end, and a device that comes back online gets the stored message.
    package mutating func takeBackEnd(at now: Date) -> (mayHaveLeft: Bool, needsNews: Bool) {
        guard let since = fencedAt ?? closedAt else { return (false, false) }
        // One that was taken back before is not this one.
        let mayHaveLeft = messages.contains { message in
            message.isEnd && message.mayBeProcessed && message.state != .rejected
                && message.settledAt.map { $0 >= since } ?? true
                // A crowd without members.
                && message.fanOut?.total != 0
        }
        fencedAt = nil
        closedAt = nil
        giveWay(at: now)
        while let message = messages.first(where: { $0.broadcast == newest }),
            message.isEnd || message.state == .cancelled
        {
            newest = message.contentBefore
        }
        sendAfterAll(at: now)
        return (mayHaveLeft, mayHaveLeft && newest != nil && !pending.contains { !$0.isEnd && !$0.isStart })
    }

    /// For an event that is cancelled with a last `end`: the messages that wait are not sent, but an `end` of the
    /// lane's own is.
    ///
    /// - Returns: whether the end may follow, and the lane has listeners.
    package mutating func makeWayForEnd(at now: Date) -> Bool {
        guard fencedAt == nil else { return false }
        cancelWaiting(at: now)
        return isConnected
    }
}

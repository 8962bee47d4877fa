package import FoundationEssentials

extension Lane {
    /// The messages that waited for the channel may go.
    package mutating func connect(_ channel: Channel) {
        self.channel = channel
        for index in messages.indices where messages[index].state == .waiting {
            messages[index].state = .queued
            // A message that may have reached another channel keeps that one's ID, so that it goes as another message.
            if messages[index].timestamp == nil { messages[index].channelID = channel.channelID }
        }
    }

    /// Gives up the channel: it is gone, or the audience wants another. Messages that wait go to the next; a request
    /// under way is settled as usual.
    ///
    /// - Parameter refusal: the reason with which APNs refused messages because it does not have this channel: those
    ///   are rejected for good.
    /// - Returns: until when a device may need the channel still, as far as this lane knows.
    package mutating func disconnect(refusal: String? = nil, at now: Date) -> Date? {
        guard let channel else { return nil }
        var neededUntil = storedUntil
        for index in messages.indices where !messages[index].state.isSettled {
            let message = messages[index]
            if let lease, isUnderWay(message) {
                let until = max(lease.until, keptUntil(message, settledAt: lease.until) ?? lease.until)
                neededUntil = max(neededUntil ?? until, until)
            } else if let refusal, message.attempts > 0, message.reason == refusal,
                message.channelID == channel.channelID
            {
                messages[index].settle(.rejected, at: now)
            } else {
                messages[index].state = .waiting
                if message.timestamp == nil { messages[index].channelID = nil }
            }
        }
        self.channel = nil
        storedUntil = nil
        return neededUntil
    }

    /// The audience has other attributes. It is the same lane, with its order and its timestamps; another storage policy
    /// is another channel, so the one it has is given up; so it is by an audience that wants none.
    ///
    /// - Returns: as `disconnect`.
    package mutating func change(_ audience: Audience, at now: Date) -> Date? {
        let isServed = audience.delivery == .channel && audience.storagePolicy == self.audience.storagePolicy
        self.audience = audience
        if audience.delivery == .channel { closedAt = nil }
        return isServed ? nil : disconnect(at: now)
    }

    /// Judges `apns-expiration` by the policy that the audience has now, for messages that were accepted under another:
    /// those that waited for a channel that came, and those that go after all.
    ///
    /// - Parameter headers: those that organisers set themselves, by broadcast.
    package mutating func judgeExpirations(_ headers: [UUID: Int]) {
        for index in messages.indices where !messages[index].state.isSettled {
            let message = messages[index]
            let expiration = headers[message.broadcast].map(Expiration.header) ?? .standard
            let header = expiration.header(for: audience.storagePolicy, until: message.expiresAt)
            // Stored or not is the policy's; until when was decided with the acceptance.
            if (header == 0) != (message.apnsExpiration == 0) { messages[index].apnsExpiration = header }
        }
    }
}

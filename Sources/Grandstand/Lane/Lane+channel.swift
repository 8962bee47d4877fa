internal import APNsWire
package import FoundationEssentials
internal import GrandstandContract

extension Lane {
    /// Gives the lane its channel. Messages that waited for it may be sent.
    package mutating func connect(_ channel: Channel) {
        self.channel = channel
        for index in messages.indices where messages[index].state == .waiting {
            messages[index].state = .queued
            // A message that may have reached another channel keeps that channel's ID. The ID then differs from the
            // lane's channel, so the message is sent as a new message.
            if messages[index].timestamp == nil { messages[index].channelID = channel.channelID }
        }
    }

    /// Removes the channel, because it no longer exists or the audience needs another channel. Messages that wait are
    /// sent to the next channel; a request under way is settled as usual.
    ///
    /// - Parameter refusal: the reason with which APNs refuses messages because it does not have this channel, if the
    ///   lane gets no other one. Messages that were refused with this reason are rejected for good.
    package mutating func disconnect(refusal: String? = nil, at now: Date) {
        guard let channel else { return }
        for index in messages.indices
        where messages[index].kind == .channel && !messages[index].state.isSettled && !isUnderWay(messages[index]) {
            let message = messages[index]
            if let refusal, message.attempts > 0, message.reason == refusal, message.channelID == channel.channelID {
                messages[index].settle(.rejected, at: now)
            } else {
                messages[index].state = .waiting
                if message.timestamp == nil { messages[index].channelID = nil }
            }
        }
        self.channel = nil
        storedUntil = nil
    }

    /// Until when a device may need the channel, as far as this lane knows.
    package var channelNeededUntil: Date? {
        guard channel != nil else { return nil }
        let underWay = self[.channel].lease.flatMap { lease in
            queue(.channel).first(where: isUnderWay).map {
                max(lease.until, keptUntil($0, settledAt: lease.until) ?? lease.until)
            }
        }
        return [storedUntil, underWay].compactMap(\.self).max()
    }

    /// Takes over the audience's changed attributes. The lane keeps its order and its timestamps. The lane loses its
    /// channel if the audience has another storage policy now, which needs another channel, or if the audience is reached
    /// by tokens now.
    package mutating func change(_ audience: Audience, at now: Date) {
        let isServed = audience.delivery == .channel && audience.storagePolicy == self.audience.storagePolicy
        self.audience = audience
        if !isServed { disconnect(at: now) }
        if audience.delivery == .tokens { moveToTokens(at: now) }
    }

    /// Sends the messages that wait for a channel to the tokens, because the audience is reached by tokens only. Those
    /// that are too large for tokens are rejected.
    mutating func moveToTokens(at now: Date) {
        self[.tokens].lastTimestamp = lastTimestamp
        for index in messages.indices where messages[index].state == .waiting {
            let (broadcast, content, alert) = (
                messages[index].broadcast, messages[index].contentBytes ?? 0, messages[index].alertBytes ?? 0
            )
            guard !queue(.tokens).contains(where: { $0.broadcast == broadcast }) else {
                settle(index, .cancelled, at: now)
                continue
            }
            messages[index].tokens = TokenProgress()
            messages[index].state = .queued
            (messages[index].timestamp, messages[index].channelID) = (nil, nil)
            if content + alert > Self.bytesForContentAndAlert(.tokens) { messages[index].rejectTooLarge(at: now) }
        }
        settleObsolete(at: now)
    }

    /// Recomputes `apns-expiration` by the audience's present storage policy, because messages may have been accepted
    /// under another one. APNs stores the newest message to a token.
    ///
    /// - Parameter headers: expirations that organisers set themselves, by broadcast.
    package mutating func updateExpirations(_ headers: [UUID: Int]) {
        for index in messages.indices where !messages[index].state.isSettled {
            let message = messages[index]
            let expiration = headers[message.broadcast].map(Expiration.header) ?? .standard
            let policy = message.kind == .tokens ? .mostRecentMessageStored : audience.storagePolicy
            let header = expiration.header(for: policy, until: message.expiresAt)
            // The policy decides only whether the header is 0, which means that APNs does not store the message. The
            // time in another header was decided when the message was accepted, so it stays.
            if (header == 0) != (message.apnsExpiration == 0) { messages[index].apnsExpiration = header }
        }
    }
}

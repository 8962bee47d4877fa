internal import APNsWire
package import FoundationEssentials
package import GrandstandContract

extension Lane {
    /// The form in which a message is sent: its content, its alert and its timestamp.
    ///
    /// - An alert is first sent with its own content. It may be sent again because APNs refused it, or because the next
    ///   shard of tokens is due. Then the alert is sent with the newest content, if both fit into one message.
    ///   Alerts that wait between this alert and the newest message get the newest content, too. So no state waits
    ///   behind an alert that APNs refuses. The newest message is sent by itself afterwards.
    /// - An alert that may have rung is repeated unchanged. With newer content and a new timestamp it would ring again.
    /// - An alert that is too old to ring is left out.
    /// - If content, alert or channel differ from the previous attempt, the message is another message. It has a new
    ///   timestamp and a new request ID. A message that may have reached APNs is repeated unchanged, or followed by a
    ///   higher timestamp.
    struct Form {
        /// Whether the message's alert is left out.
        var dropsAlert = false
        /// The broadcast whose content is sent; `nil`: the message's own content is sent.
        var contentOf: UUID?
        var contentBytes: Int?
        /// The newest message, if its own content is sent with this message.
        var carried: UUID?
        /// Whether this form differs from the form of the previous attempt.
        var isChanged = false
        var hasNewTimestamp = false
    }

    /// The most bytes of content and alert together: APNs' limit minus the rest of the body (`BroadcastPayload`).
    package static func bytesForContentAndAlert(_ kind: Contract.DeliveryKind) -> Int { kind.bodyLimit - 160 }

    func form(of head: LaneMessage, at now: Date) -> Form {
        let rings = head.rings(at: now)
        var form = Form(dropsAlert: head.hasAlert && !rings, contentOf: head.contentOf, contentBytes: head.contentBytes)
        let goesAgain = head.timestamp != nil || head.contentOf != nil
        // Tokens know whether the alert may have rung (`activities.rang`); the same message goes again to those that are
        // tried again.
        let keepsForm = head.tokens.map(\.isSwept) ?? head.mayHaveBeenProcessed
        if rings, goesAgain, !keepsForm, !head.isEnd,
            let newest = queue(head.kind).last,
            newest.source != head.source, let content = newest.contentBytes, let alert = head.alertBytes,
            content + alert <= Self.bytesForContentAndAlert(head.kind)
        {
            form.contentOf = newest.source
            form.contentBytes = content
            form.carried = newest.contentOf == nil ? newest.broadcast : nil
        }
        let isMoved = head.kind == .channel && head.channelID != nil && head.channelID != channel?.channelID
        // A message that has attempts but no timestamp was reset by `requeueSuperseded`, because a later message has a
        // higher timestamp. It is sent as a new message.
        form.isChanged =
            head.timestamp == nil ? head.attempts > 0 : form.dropsAlert || form.contentOf != head.contentOf || isMoved
        form.hasNewTimestamp = head.timestamp == nil || form.isChanged
        return form
    }

    /// Takes the head for a claim, if it may be sent now, and leases the lane. A message that a dead replica was
    /// sending waits again, and newer state may supersede it.
    ///
    /// - Parameters:
    ///   - kind: whether the message to the channel or the message to the tokens is taken.
    ///   - requestID: makes a request ID for a message that changed.
    /// - Returns: the message as it is sent; `nil`: none is sent now, and `due(at:)` says when to look again.
    package mutating func take(
        _ claim: WorkClaim, to kind: Contract.DeliveryKind = .channel, requestID: () -> UUID
    ) -> LaneMessage? {
        let now = claim.at
        if let lease = self[kind].lease,
            lease.until > now || lease.replica == claim.replica && claim.held?.contains(id) ?? false
        {
            return nil
        }
        self[kind].lease = nil
        for index in messages.indices where messages[index].state == .sending && messages[index].kind == kind {
            messages[index].state = unsentState(kind)
        }
        settleObsolete(at: now)
        guard maySend(kind), let time = sendTime(kind, at: now), time <= now,
            let index = messages.firstIndex(where: { !$0.state.isSettled && $0.kind == kind })
        else { return nil }
        let form = form(of: messages[index], at: now)
        if form.hasNewTimestamp {
            let timestamp = max(now.epoch, self[kind].lastTimestamp + 1)
            messages[index].timestamp = timestamp
            self[kind].lastTimestamp = timestamp
        }
        if form.isChanged { messages[index].requestID = requestID() }
        if form.dropsAlert {
            messages[index].hasAlert = false
            messages[index].priority = messages[index].silentPriority
            messages[index].reason = LaneMessage.lapseReason
        }
        messages[index].state = .sending
        messages[index].attempts += 1
        messages[index].nextAttemptAt = nil
        if kind == .channel { messages[index].channelID = channel?.channelID }
        messages[index].contentOf = form.contentOf
        messages[index].contentBytes = form.contentBytes
        if form.carried != nil { carry(form, after: index) }
        self[kind].lease = Lease(replica: claim.replica, until: claim.leasedUntil)
        let storedDue = self[kind].storedDue ?? now
        self[kind].storedDue = nil
        if kind == .channel {
            // From now on APNs may store the message, whatever APNs answers.
            if messages[index].apnsExpiration > 0 {
                storedUntil = max(storedUntil ?? .distantPast, messages[index].expiresAt)
            }
            // The interval counts from the time at which the message was due. If it counted from the claim, each late
            // claim would delay a lane that gets a message in every interval. At most half an interval is caught up.
            let from = max(min(storedDue, now), now.addingTimeInterval(-claim.laneInterval / 2))
            pace(kind, until: from.addingTimeInterval(claim.laneInterval))
        } else if form.hasNewTimestamp {
            // The interval counts from the first shard.
            pace(kind, until: now.addingTimeInterval(claim.laneInterval))
        }
        return messages[index]
    }

    mutating func pace(_ kind: Contract.DeliveryKind, until time: Date) {
        self[kind].readyAt = max(self[kind].readyAt ?? time, time)
    }

    /// Gives the alerts between the head and the newest message the newest content, because older content must not
    /// follow it.
    private mutating func carry(_ form: Form, after head: Int) {
        for index in messages.indices
        where index > head && !messages[index].state.isSettled && messages[index].kind == messages[head].kind {
            if messages[index].broadcast == form.carried {
                messages[index].contentCarried = true
            } else {
                messages[index].contentOf = form.contentOf
                messages[index].contentBytes = form.contentBytes
            }
        }
    }
}

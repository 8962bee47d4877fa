internal import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// A message that a lane sends now, with what its request to `/4/broadcasts/apps/…` or its pushes to tokens are made of,
/// and then with what became of it. A repetition sends exactly the same bytes.
package struct ClaimedDelivery: Sendable, Equatable {
    package let lane: Int
    /// The message as it is sent. Its `attempts` include the next request.
    package let message: LaneMessage
    package let address: APNsAddress
    /// The whole JSON body.
    package let body: [UInt8]
    /// When the message was accepted, or its `sendAt`; `nil`: not known.
    package let wantedAt: Date?
    /// The replica that leased the lane.
    package var replica: UUID
    /// `nil`: the message was not sent, so the attempt does not count.
    package var verdict: Verdict?
    /// When the answer came, or when it was clear that none would come.
    package var settledAt = Date.distantPast
    /// `false`: APNs is known not to have processed the request (`APNsAnswer.mayHaveBeenProcessed`).
    package var mayHaveBeenProcessed = true
    /// Nothing is sent on the lane before this time, because APNs throttles the lane; `nil`: no limit.
    package var throttledUntil: Date?

    package init(
        lane: Int, message: LaneMessage, address: APNsAddress, body: [UInt8], wantedAt: Date? = nil, replica: UUID
    ) {
        self.lane = lane
        self.message = message
        self.address = address
        self.body = body
        self.wantedAt = wantedAt
        self.replica = replica
    }

    /// The request for a message as it is sent now: perhaps without its alert, or with the content of another message.
    ///
    /// - Parameters:
    ///   - own: the message's broadcast.
    ///   - content: the broadcast whose content is sent (`LaneMessage.source`).
    /// - Returns: `nil`: the lane has not given the message a timestamp.
    package init?(
        _ message: LaneMessage, on lane: Lane, at address: APNsAddress, own: Contract.BroadcastDraft,
        content: Contract.BroadcastDraft, wantedAt: Date, replica: UUID
    ) {
        guard let timestamp = message.timestamp else { return nil }
        var payload = own.payload(for: lane.audience.variant)
        if !message.hasAlert { payload.alert = nil }
        // A token that comes late may get the content of an `end`, although the event continues.
        if !message.isEnd { (payload.event, payload.dismissalDate) = (.update, nil) }
        if message.contentOf != nil {
            let content = content.payload(for: lane.audience.variant)
            payload.contentState = content.contentState
            payload.staleDate = content.staleDate
            payload.relevanceScore = content.relevanceScore
        }
        self.init(
            lane: lane.id, message: message, address: address, body: payload.body(timestamp: timestamp),
            wantedAt: wantedAt, replica: replica)
    }

    /// - Parameter verdict: `nil`: the message was not sent.
    package func settled(_ verdict: Verdict?, at time: Date) -> ClaimedDelivery {
        var settled = self
        (settled.verdict, settled.settledAt) = (verdict, time)
        return settled
    }
}

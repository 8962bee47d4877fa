internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// How a lane leaves its channel, and how a closed lane opens again.
struct LaneChannelTests {
    private let channel = Lane.Channel(id: UUID(), channelID: "old", takesMessages: true)
    private let replica = UUID()

    private func lane(_ policy: StoragePolicy = .mostRecentMessageStored) throws -> Lane {
        let bundleID = try #require(BundleID(rawValue: "com.example.Goal"))
        return Lane(
            id: 1, audience: Audience(bundleID: bundleID, environment: .production, storagePolicy: policy),
            channel: channel)
    }

    private func message(_ id: Int, expiresIn seconds: TimeInterval) -> LaneMessage {
        let expiresAt = sceneTime + seconds
        return LaneMessage(
            id: id, broadcast: UUID(), apnsExpiration: Int(expiresAt.timeIntervalSince1970), expiresAt: expiresAt,
            requestID: UUID())
    }

    private func take(_ lane: inout Lane, at time: Date = sceneTime) -> LaneMessage? {
        lane.take(
            LaneClaim(
                environment: .production, limit: 1, replica: replica, at: time, leasedUntil: time + 5,
                laneInterval: 0), requestID: UUID.init)
    }

    @Test func `a lane's former channel is needed until its stored message expires and its requests end`()
        throws
    {
        var quiet = try lane()
        #expect(quiet.disconnect(at: sceneTime) == nil)

        var stored = try lane()
        stored.storedUntil = sceneTime + 90
        #expect(stored.disconnect(at: sceneTime) == sceneTime + 90)
        #expect(stored.storedUntil == nil)
        #expect(stored.disconnect(at: sceneTime) == nil)

        var leased = try lane(.noMessageStored)
        leased.accept(
            LaneMessage(id: 1, broadcast: UUID(), expiresAt: sceneTime + 60, requestID: UUID()), at: sceneTime)
        #expect(take(&leased) != nil)
        #expect(leased.disconnect(at: sceneTime) == sceneTime + 5)

        var underWay = try lane()
        underWay.accept(message(1, expiresIn: 60), at: sceneTime)
        #expect(take(&underWay) != nil)
        #expect(underWay.disconnect(at: sceneTime) == sceneTime + 60)
    }

    @Test func `an alert that a dead replica was sending is repeated unchanged, so it rings once`() throws {
        var lane = try lane()
        lane.accept(
            LaneMessage(
                id: 1, broadcast: UUID(), alerting: true, expiresAt: sceneTime + 60, requestID: UUID(),
                contentBytes: 10,
                alertBytes: 10), at: sceneTime)
        let lost = try #require(take(&lane))
        lane.accept(
            LaneMessage(
                id: 2, broadcast: UUID(), expiresAt: sceneTime + 60, requestID: UUID(), contentBytes: 10),
            at: sceneTime + 1)
        let again = try #require(take(&lane, at: sceneTime + 5))
        #expect(again.id == 1)
        #expect(again.timestamp == lost.timestamp)
        #expect(again.requestID == lost.requestID)
        #expect(again.content == lost.content)
    }

    @Test func `a request on the old channel is settled as usual, and counts for nothing on the new one`()
        throws
    {
        for verdict in [Verdict.accepted(APNsReceipt(requestID: nil)), .retry(at: sceneTime + 1, reason: "slow")] {
            var lane = try lane()
            lane.accept(message(1, expiresIn: 60), at: sceneTime)
            #expect(take(&lane)?.channelID == "old")
            var audience = lane.audience
            audience.storagePolicy = .noMessageStored
            _ = lane.change(audience, at: sceneTime)
            #expect(lane.lease != nil)
            let settlement = Settlement(delivery: 1, lane: 1, verdict: verdict, at: sceneTime)
            #expect(lane.settle(settlement, by: replica, at: sceneTime) == .settled)
            #expect(lane.storedUntil == nil)
            #expect(
                lane.messages[0].state == (verdict == .accepted(APNsReceipt(requestID: nil)) ? .accepted : .waiting))
        }
    }

    @Test func `if a lane loses its channel, only the message that APNs refused because of it is rejected`() throws {
        var lane = try lane()
        lane.accept(message(1, expiresIn: 60), at: sceneTime)
        lane.messages[0].alerting = true
        #expect(take(&lane) != nil)
        let refused = Verdict.channelDoubted(
            APNsRefusal(status: 400, reason: .channelNotRegistered), next: sceneTime + 1)
        _ = lane.settle(Settlement(delivery: 1, lane: 1, verdict: refused, at: sceneTime), by: replica, at: sceneTime)
        lane.accept(message(2, expiresIn: 60), at: sceneTime)
        _ = lane.disconnect(refusal: APNsReason.channelNotRegistered.rawValue, at: sceneTime)
        #expect(lane.messages.map(\.state) == [.rejected, .waiting])
    }

    @Test func `a lane that expired or lost its audience opens again, one with its own end does not`() throws {
        var clock = try lane()
        clock.fence(at: sceneTime)
        clock.reopen(closedAt: sceneTime)
        #expect(clock.fencedAt == nil)

        var ended = try lane()
        ended.fence(at: sceneTime)
        ended.close(at: sceneTime + 1)
        ended.reopen(closedAt: sceneTime + 1)
        #expect(ended.fencedAt == sceneTime && ended.closedAt == nil)
    }
}

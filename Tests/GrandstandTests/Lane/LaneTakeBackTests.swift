internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// An end by mistake, as far as it can be undone.
struct LaneTakeBackTests {
    private let replica = UUID()
    private let broadcasts = (0..<5).map { _ in UUID() }

    private func lane(_ kind: Lane.Kind = .channel) throws -> Lane {
        let bundleID = try #require(BundleID(rawValue: "com.example.Goal"))
        return Lane(
            id: 1, kind: kind,
            audience: Audience(bundleID: bundleID, environment: .production, storagePolicy: .mostRecentMessageStored),
            channel: kind == .channel ? Lane.Channel(id: UUID(), channelID: "one", takesMessages: true) : nil)
    }

    /// The message of a broadcast with this number.
    private func message(_ number: Int, isEnd: Bool = false, hasContent: Bool = true) -> LaneMessage {
        LaneMessage(
            id: number, broadcast: broadcasts[number], isEnd: isEnd, expiresAt: sceneTime + 3_600, requestID: UUID(),
            hasContent: hasContent)
    }

    private func take(_ lane: inout Lane, at time: Date = sceneTime) -> LaneMessage? {
        lane.take(
            LaneClaim(
                environment: .production, limit: 1, replica: replica, at: time, leasedUntil: time + 5, laneInterval: 0),
            requestID: UUID.init)
    }

    private func settle(_ lane: inout Lane, _ number: Int, _ verdict: Verdict, at time: Date = sceneTime) {
        _ = lane.settle(
            Settlement(delivery: number, lane: 1, verdict: verdict, at: time), by: replica, at: time)
    }

    private func makesWay(_ lane: inout Lane) -> Bool { lane.makeWayForEnd(at: sceneTime) }

    private let accepted = Verdict.accepted(APNsReceipt(requestID: nil))

    @Test func `a waiting end is not sent, the content before it is the newest again, and what it replaced is sent`()
        throws
    {
        var lane = try lane()
        lane.accept(message(0), at: sceneTime)
        lane.accept(message(1, isEnd: true), at: sceneTime)
        #expect(lane.messages.map(\.state) == [.superseded, .queued])
        let found = lane.takeBackEnd(at: sceneTime + 1)
        #expect(!found.mayHaveLeft && !found.needsNews)
        #expect(lane.messages.map(\.state) == [.queued, .cancelled])
        #expect(lane.fencedAt == nil && lane.newest == broadcasts[0])
        #expect(take(&lane, at: sceneTime + 1)?.broadcast == broadcasts[0])
    }

    @Test func `after an end that APNs has, the content before it is sent again with a later timestamp`()
        throws
    {
        var lane = try lane()
        lane.accept(message(0), at: sceneTime)
        #expect(take(&lane) != nil)
        settle(&lane, 0, accepted)
        lane.accept(message(1, isEnd: true), at: sceneTime)
        let end = try #require(take(&lane))
        settle(&lane, 1, accepted)
        let found = lane.takeBackEnd(at: sceneTime + 1)
        #expect(found.mayHaveLeft && found.needsNews)
        #expect(lane.newest == broadcasts[0])
        lane.accept(message(2), at: sceneTime + 1)
        let news = try #require(take(&lane, at: sceneTime + 1))
        #expect(try #require(news.timestamp) > (end.timestamp ?? .max))
        // A second call finds nothing to undo.
        let again = lane.takeBackEnd(at: sceneTime + 2)
        #expect(!again.mayHaveLeft && !again.needsNews)
    }

    @Test func `an end that is being sent is not repeated, whatever its answer is`() throws {
        for verdict in [Verdict.retry(at: sceneTime + 3, reason: "slow"), accepted] {
            var lane = try lane()
            lane.accept(message(0, isEnd: true), at: sceneTime)
            #expect(take(&lane) != nil)
            let found = lane.takeBackEnd(at: sceneTime + 1)
            #expect(found.mayHaveLeft)
            lane.accept(message(1), at: sceneTime + 1)
            settle(&lane, 0, verdict, at: sceneTime + 2)
            #expect(lane.messages[0].state == (verdict == accepted ? .accepted : .cancelled))
            #expect(take(&lane, at: sceneTime + 4)?.broadcast == broadcasts[1])
        }
        // The replica that sent the end has died, so nobody gets the answer.
        var lane = try lane()
        lane.accept(message(0, isEnd: true), at: sceneTime)
        #expect(take(&lane) != nil)
        _ = lane.takeBackEnd(at: sceneTime + 1)
        #expect(take(&lane, at: sceneTime + 10) == nil)
        #expect(lane.messages[0].state == .cancelled)
    }

    @Test func `an update that was tried before an end is sent as a new message after the end is taken back`() throws {
        var lane = try lane()
        lane.accept(message(0), at: sceneTime)
        let tried = try #require(take(&lane))
        settle(&lane, 0, .retry(at: sceneTime + 60, reason: "slow"))
        lane.accept(message(1, isEnd: true), at: sceneTime + 1)
        let end = try #require(take(&lane, at: sceneTime + 1))
        #expect(end.isEnd)
        settle(&lane, 1, accepted, at: sceneTime + 1)
        let found = lane.takeBackEnd(at: sceneTime + 2)
        #expect(found.mayHaveLeft && !found.needsNews)
        let again = try #require(take(&lane, at: sceneTime + 2))
        #expect(again.broadcast == tried.broadcast && again.requestID != tried.requestID)
        #expect(try #require(again.timestamp) > #require(end.timestamp))
    }

    @Test func `of two ends the later is sent, and the first end is not repeated`() throws {
        var lane = try lane()
        lane.accept(message(0, isEnd: true), at: sceneTime)
        #expect(take(&lane) != nil)
        _ = lane.takeBackEnd(at: sceneTime + 1)
        lane.accept(message(1, isEnd: true), at: sceneTime + 1)
        settle(&lane, 0, .retry(at: sceneTime + 2, reason: "slow"), at: sceneTime + 2)
        #expect(take(&lane, at: sceneTime + 2)?.broadcast == broadcasts[1])
        #expect(lane.messages[0].state == .superseded)
    }

    @Test func `messages cancelled with their event stay cancelled and are not shown`() throws {
        var lane = try lane()
        lane.accept(message(0), at: sceneTime)
        #expect(take(&lane) != nil)
        settle(&lane, 0, accepted)
        lane.accept(message(1), at: sceneTime)
        lane.close(at: sceneTime + 1)
        let found = lane.takeBackEnd(at: sceneTime + 2)
        #expect(!found.mayHaveLeft)
        #expect(lane.closedAt == nil && lane.fencedAt == nil)
        #expect(lane.newest == broadcasts[0])
        #expect(lane.messages.map(\.state) == [.accepted, .cancelled])
    }

    @Test func `an end replaces waiting messages only if it can reach an activity`() throws {
        var open = try lane()
        open.accept(message(0), at: sceneTime)
        #expect(makesWay(&open))
        #expect(open.messages[0].state == .cancelled && open.fencedAt == nil)
        var unreachable = try lane()
        unreachable.channel = nil
        unreachable.accept(message(0), at: sceneTime)
        #expect(!makesWay(&unreachable))
        #expect(unreachable.messages[0].state == .cancelled && unreachable.fencedAt == nil)
        var crowd = try lane(.crowd)
        #expect(makesWay(&crowd))
        var ended = try lane()
        ended.accept(message(0, isEnd: true), at: sceneTime)
        #expect(!makesWay(&ended))
        #expect(ended.messages[0].state == .queued && ended.closedAt == nil)
    }

    @Test func `members of a crowd that were not reached yet do not get the end`() throws {
        var lane = try lane(.crowd)
        lane.accept(message(0, isEnd: true), at: sceneTime)
        #expect(take(&lane) != nil)
        _ = lane.settle(
            FanOut.Progress(.sweep(to: 10, isLast: false, resting: 0), accepted: 10), of: 0,
            number: lane.messages[0].attempts,
            by: replica, again: sceneTime + 5, at: sceneTime)
        let found = lane.takeBackEnd(at: sceneTime + 1)
        #expect(found.mayHaveLeft)
        #expect(lane.messages[0].state == .cancelled)
        #expect(take(&lane, at: sceneTime + 2) == nil)
    }
}

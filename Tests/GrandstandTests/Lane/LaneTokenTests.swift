internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// A lane of one token. It has no channel, and its starts are independent messages.
struct LaneTokenTests {
    private let replica = UUID()

    private func lane() throws -> Lane {
        let bundleID = try #require(BundleID(rawValue: "com.example.Goal"))
        return Lane(
            id: 1, kind: .token, token: DeviceToken(bytes: [1, 2]),
            audience: Audience(
                bundleID: bundleID, environment: .production, storagePolicy: .mostRecentMessageStored), channel: nil)
    }

    private func message(
        _ id: Int, isEnd: Bool = false, isStart: Bool = false, alerting: Bool = false, bytes: Int = 10,
        expiresIn seconds: TimeInterval = 600
    ) -> LaneMessage {
        LaneMessage(
            id: id, broadcast: UUID(), isEnd: isEnd, isStart: isStart, alerting: alerting || isStart,
            expiresAt: sceneTime + seconds, requestID: UUID(), contentBytes: bytes, alertBytes: 20)
    }

    private func take(_ lane: inout Lane, at now: Date = sceneTime) -> LaneMessage? {
        lane.take(
            LaneClaim(
                environment: .production, limit: 1, replica: replica, at: now, leasedUntil: now + 5, laneInterval: 0),
            requestID: UUID.init)
    }

    private func settle(_ lane: inout Lane, _ id: Int, _ verdict: Verdict) -> Lane.Effect {
        lane.settle(
            Settlement(delivery: id, lane: 1, verdict: verdict, at: sceneTime), by: replica, at: sceneTime)
    }

    @Test func `the newest update is sent with rising timestamps, and the end is last`() throws {
        var lane = try lane()
        lane.accept(message(1), at: sceneTime)
        #expect(lane.head?.state == .queued)
        lane.accept(message(2), at: sceneTime)
        #expect(lane.messages.map(\.state) == [.superseded, .queued])
        let first = try #require(take(&lane))
        #expect(first.id == 2 && first.channelID == nil)
        lane.accept(message(3), at: sceneTime)
        lane.accept(message(4, isEnd: true), at: sceneTime)
        #expect(settle(&lane, 2, .accepted(APNsReceipt(requestID: nil))) == .settled)
        let end = try #require(take(&lane))
        #expect(end.id == 4)
        #expect(try #require(end.timestamp) > (try #require(first.timestamp)))
        #expect(lane.fencedAt == sceneTime)
    }

    @Test func `starts neither supersede nor are superseded, and have their own content and alert`() throws {
        var lane = try lane()
        lane.accept(message(1, alerting: true), at: sceneTime)
        lane.accept(message(2, isStart: true), at: sceneTime)
        lane.accept(message(3, isStart: true), at: sceneTime)
        lane.accept(message(4), at: sceneTime)
        var sent: [LaneMessage] = []
        while let message = take(&lane) {
            sent.append(message)
            #expect(settle(&lane, try #require(message.id), .accepted(APNsReceipt(requestID: nil))) == .settled)
        }
        #expect(sent.map(\.id) == [1, 2, 3, 4])
        #expect(sent.map(\.contentOf) == [nil, nil, nil, nil])
        #expect(sent.map(\.alerting) == [true, true, true, false])
    }

    @Test func `a start whose answer was lost is not repeated, but an update is`() throws {
        for isStart in [true, false] {
            var lane = try lane()
            lane.accept(message(1, isStart: isStart), at: sceneTime)
            let first = try #require(take(&lane))
            let again = take(&lane, at: sceneTime + 6)
            #expect(again?.requestID == (isStart ? nil : first.requestID))
            #expect(lane.messages[0].state == (isStart ? .unknown : .sending))
            #expect((lane.messages[0].reason == Lane.unheard) == isStart)
        }
    }

    @Test func `a start that APNs did not answer is unknown, and one that was not sent is repeated`() throws {
        var lane = try lane()
        lane.accept(message(1, isStart: true), at: sceneTime)
        _ = take(&lane)
        #expect(settle(&lane, 1, .retry(at: sceneTime + 1, reason: "no connection")) == .settled)
        #expect(lane.messages[0].state == .queued)
        #expect(take(&lane, at: sceneTime + 1) != nil)
        #expect(settle(&lane, 1, .unknown(reason: "timeout")) == .settled)
        #expect(lane.messages[0].state == .unknown && lane.messages[0].reason == "timeout")
        #expect(lane.due(at: sceneTime + 2) == nil)
    }

    /// A message to a token may have 4,096 bytes, and a message to a channel 5,120.
    @Test func `a repeated alert gets the newest content, ignoring starts, if a token accepts both together`()
        throws
    {
        for (bytes, carries) in [(3_900, true), (4_000, false)] {
            var lane = try lane()
            lane.accept(message(1, alerting: true), at: sceneTime)
            lane.accept(message(2, isStart: true), at: sceneTime)
            lane.accept(message(3, bytes: bytes), at: sceneTime)
            #expect(take(&lane)?.contentOf == nil)
            #expect(settle(&lane, 1, .retry(at: sceneTime, reason: "TooManyRequests")) == .settled)
            #expect((take(&lane)?.contentOf == lane.messages[2].broadcast) == carries, "\(bytes)")
        }
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// A lane with one or more messages per interval, and claims that come late.
struct LanePaceTests {
    private let replica = UUID()

    private func lane() throws -> Lane {
        let bundleID = try #require(BundleID(rawValue: "com.example.Goal"))
        return Lane(
            id: 1,
            audience: Audience(
                bundleID: bundleID, environment: .production, storagePolicy: .mostRecentMessageStored),
            channel: Lane.Channel(id: UUID(), channelID: "channel", takesMessages: true))
    }

    /// Does what the store does after each call: sets `waitsSince`, the time since which the lane waits, to the lane's
    /// due time, or to `nil` if the lane is leased.
    private func write(_ lane: inout Lane, at now: Date) {
        lane.waitsSince = lane.lease == nil ? lane.due(at: now) : nil
    }

    private func accept(_ lane: inout Lane, at now: Date) {
        lane.accept(
            LaneMessage(
                id: lane.messages.count + 1, broadcast: UUID(), expiresAt: now + 3_600, requestID: UUID()), at: now)
        write(&lane, at: now)
    }

    /// - Returns: whether a message was sent. APNs has then accepted it.
    private func send(_ lane: inout Lane, at now: Date) -> Bool {
        let claim = LaneClaim(
            environment: .production, limit: 1, replica: replica, at: now, leasedUntil: now + 5, laneInterval: 1)
        let taken = lane.take(claim, requestID: UUID.init)
        if let id = taken?.id {
            let settlement = Settlement(
                delivery: id, lane: 1, verdict: .accepted(APNsReceipt(requestID: nil)), at: now)
            _ = lane.settle(settlement, by: replica, at: now)
        }
        write(&lane, at: now)
        return taken != nil
    }

    @Test func `one message per interval never falls behind, even if claims are late`() throws {
        var lane = try lane()
        var sent = 0
        // Twice as many messages are accepted as may be sent, so every second message is superseded. Claims are 5 ms
        // late.
        for half in 0..<600 {
            let now = sceneTime + Double(half) / 2
            accept(&lane, at: now)
            let due = try #require(lane.due(at: now))
            guard due < now + 0.25 else { continue }
            #expect(send(&lane, at: max(now, due) + 0.005))
            sent += 1
        }
        #expect(sent == 300)
        #expect(lane.messages.filter { $0.state == .superseded }.count == 299)
    }

    @Test func `a late claim does not delay the next message, but half an interval lies between the two`() throws {
        for (late, next) in [(0.2, 2.0), (0.5, 2.0), (0.7, 2.2), (30, 31.5)] {
            var lane = try lane()
            accept(&lane, at: sceneTime)
            #expect(send(&lane, at: sceneTime))
            accept(&lane, at: sceneTime + 0.5)
            #expect(send(&lane, at: sceneTime + 1 + late))
            accept(&lane, at: sceneTime + 1 + late)
            let due = try #require(lane.due(at: sceneTime + 1 + late)).timeIntervalSince(sceneTime)
            #expect(abs(due - next) < 0.000_01, "\(late) s late: due after \(due) s")
        }
    }

    @Test func `after a quiet time the interval counts from when the message was sent`() throws {
        var lane = try lane()
        accept(&lane, at: sceneTime)
        #expect(send(&lane, at: sceneTime))
        accept(&lane, at: sceneTime + 60)
        #expect(send(&lane, at: sceneTime + 60))
        accept(&lane, at: sceneTime + 60.1)
        #expect(lane.due(at: sceneTime + 60.1) == sceneTime + 61)
    }
}

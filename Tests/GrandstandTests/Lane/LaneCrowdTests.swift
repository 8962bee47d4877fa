internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// A lane that sends its messages to a crowd of tokens, shard by shard.
struct LaneCrowdTests {
    private let replica = UUID()

    private func lane() throws -> Lane {
        let bundleID = try #require(BundleID(rawValue: "com.example.Goal"))
        return Lane(
            id: 1, kind: .crowd,
            audience: Audience(bundleID: bundleID, environment: .production, storagePolicy: .mostRecentMessageStored),
            channel: nil)
    }

    private func message(
        _ id: Int, alerting: Bool = false, isEnd: Bool = false, expiresIn seconds: TimeInterval = 3_600
    ) -> LaneMessage {
        LaneMessage(
            id: id, broadcast: UUID(), isEnd: isEnd, priority: alerting ? .immediate : .powerAware, alerting: alerting,
            expiresAt: sceneTime + seconds, requestID: UUID(), contentBytes: 10, alertBytes: alerting ? 10 : nil)
    }

    private func take(_ lane: inout Lane, at time: Date = sceneTime) -> LaneMessage? {
        lane.take(
            LaneClaim(
                environment: .production, limit: 1, replica: replica, at: time, leasedUntil: time + 5, laneInterval: 1),
            requestID: UUID.init)
    }

    /// Settles the shard that is being sent.
    @discardableResult
    private func settle(
        _ lane: inout Lane, _ progress: FanOut.Progress, at time: Date = sceneTime
    ) -> Bool {
        guard let message = lane.messages.first(where: { $0.state == .sending }), let id = message.id else {
            return false
        }
        return lane.settle(progress, of: id, number: message.attempts, by: replica, again: time + 7, at: time)
    }

    private func swept(to cursor: Int, isSwept: Bool = false, accepted: Int = 0) -> FanOut.Progress {
        FanOut.Progress(.sweep(to: cursor, isLast: isSwept, resting: 0), accepted: accepted)
    }

    @Test func `a message is sent shard by shard with one timestamp, without waiting for the lane's interval`() throws {
        var lane = try lane()
        lane.accept(message(1), at: sceneTime)
        #expect(lane.messages[0].state == .queued)
        let first = try #require(take(&lane))
        #expect(first.fanOut == FanOut())
        #expect(take(&lane) == nil)
        settle(&lane, swept(to: 40, accepted: 20))
        #expect(lane.due(at: sceneTime) == sceneTime)
        let second = try #require(take(&lane))
        #expect(second.timestamp == first.timestamp)
        #expect(second.requestID == first.requestID)
        #expect(second.fanOut?.next == .after(40))
        settle(&lane, swept(to: 60, isSwept: true, accepted: 5))
        #expect(lane.messages[0].state == .accepted)
        #expect(lane.messages[0].fanOut?.accepted == 25)
        #expect(lane.due(at: sceneTime) == nil)
    }

    @Test func `a newer message replaces the rest of the present one, and no member gets both`()
        throws
    {
        var lane = try lane()
        lane.accept(message(1), at: sceneTime)
        let first = try #require(take(&lane))
        settle(&lane, swept(to: 40, accepted: 20))
        lane.accept(message(2), at: sceneTime)
        #expect(lane.messages[0].state == .superseded)
        #expect(lane.messages[0].fanOut?.accepted == 20)
        // The interval counts from the first shard of the previous message.
        #expect(lane.due(at: sceneTime) == sceneTime + 1)
        let newest = try #require(take(&lane, at: sceneTime + 1))
        #expect(newest.id == 2)
        #expect(newest.fanOut == FanOut())
        #expect(try #require(newest.timestamp) > #require(first.timestamp))
    }

    @Test func `a shard that is being sent is not replaced, and gives way when it is settled`() throws {
        var lane = try lane()
        lane.accept(message(1), at: sceneTime)
        #expect(take(&lane) != nil)
        lane.accept(message(2), at: sceneTime)
        #expect(lane.messages[0].state == .sending)
        settle(&lane, swept(to: 40, accepted: 20))
        #expect(lane.messages.map(\.state) == [.superseded, .queued])
        // If the shard that is being sent is the last one of its message, the message is accepted, not superseded.
        #expect(take(&lane, at: sceneTime + 1)?.id == 2)
        lane.accept(message(3), at: sceneTime + 1)
        settle(&lane, swept(to: 40, isSwept: true, accepted: 40), at: sceneTime + 1)
        #expect(lane.messages.map(\.state) == [.superseded, .accepted, .queued])
    }

    @Test func `an alert reaches every member, and the remaining ones get it with the newest content`() throws {
        var lane = try lane()
        lane.accept(message(1, alerting: true), at: sceneTime)
        let first = try #require(take(&lane))
        settle(&lane, swept(to: 40, accepted: 20))
        lane.accept(message(2), at: sceneTime)
        #expect(lane.messages.map(\.state) == [.queued, .queued])
        let rest = try #require(take(&lane, at: sceneTime + 1))
        #expect(rest.id == 1)
        #expect(rest.content == lane.messages[1].broadcast)
        #expect(rest.fanOut?.next == .after(40))
        #expect(try #require(rest.timestamp) > #require(first.timestamp))
        settle(&lane, swept(to: 60, isSwept: true, accepted: 10), at: sceneTime + 1)
        // After the first message has gone to all members, every member gets the newest content without the alert.
        let newest = try #require(take(&lane, at: sceneTime + 2))
        #expect(newest.id == 2)
        #expect(newest.fanOut == FanOut())
    }

    @Test func `an end is sent last and closes the lane`() throws {
        var lane = try lane()
        lane.accept(message(1), at: sceneTime)
        lane.accept(message(2, isEnd: true), at: sceneTime)
        #expect(lane.messages[0].state == .superseded)
        #expect(lane.fencedAt == sceneTime)
        #expect(take(&lane)?.isEnd == true)
    }

    @Test func `only the members that APNs did not accept are tried again, after a pause`() throws {
        var lane = try lane()
        lane.accept(message(1), at: sceneTime)
        #expect(take(&lane) != nil)
        settle(
            &lane, FanOut.Progress(.sweep(to: 60, isLast: true, resting: 0), again: 2, accepted: 58, reason: "Shutdown")
        )
        #expect(lane.messages[0].state == .queued)
        #expect(lane.messages[0].reason == "Shutdown")
        #expect(lane.due(at: sceneTime) == sceneTime + 7)
        #expect(take(&lane, at: sceneTime + 6) == nil)
        #expect(take(&lane, at: sceneTime + 7)?.fanOut?.next == .queue)
        settle(&lane, FanOut.Progress(.queue(taken: 2, rested: 0), again: 1, accepted: 1), at: sceneTime + 7)
        #expect(take(&lane, at: sceneTime + 14)?.fanOut?.waiting == 1)
        settle(
            &lane, FanOut.Progress(.queue(taken: 1, rested: 0), gone: 1, reason: "Unregistered"), at: sceneTime + 14)
        #expect(lane.messages[0].state == .accepted)
        let counts = Delivery.Counts(try #require(lane.messages[0].fanOut), .superseded)
        #expect((counts.total, counts.accepted, counts.gone, counts.pending) == (60, 59, 1, 0))
    }

    @Test func `members that were not reached in time are counted, and if none was reached the message is expired`()
        throws
    {
        var lane = try lane()
        lane.accept(message(1), at: sceneTime)
        #expect(take(&lane) != nil)
        settle(
            &lane, FanOut.Progress(.sweep(to: 9, isLast: true, resting: 0), expired: 3, reason: "ServiceUnavailable"))
        #expect(lane.messages[0].state == .expired)
        #expect(lane.messages[0].reason == "ServiceUnavailable")
        let counts = Delivery.Counts(try #require(lane.messages[0].fanOut), .expired)
        #expect((counts.total, counts.accepted, counts.expired, counts.pending) == (3, 0, 3, 0))
        lane.accept(message(2), at: sceneTime + 9)
        #expect(take(&lane, at: sceneTime + 9) != nil)
        settle(
            &lane, FanOut.Progress(.sweep(to: 9, isLast: true, resting: 0), accepted: 2, expired: 1), at: sceneTime + 9)
        #expect(lane.messages[1].state == .accepted && lane.messages[1].fanOut?.expired == 1)
        // One member got no answer before the message expired.
        let silent = Delivery.Counts(FanOut(cursor: 2, isSwept: true, waiting: 1, total: 2, accepted: 1), .expired)
        #expect((silent.accepted, silent.expired, silent.pending) == (1, 1, 0))
    }

    @Test func `the reason of a failed attempt is removed after a successful one`() throws {
        var lane = try lane()
        lane.accept(message(1), at: sceneTime)
        #expect(take(&lane) != nil)
        settle(
            &lane, FanOut.Progress(.sweep(to: 9, isLast: true, resting: 0), again: 1, accepted: 1, reason: "Shutdown"))
        #expect(lane.messages[0].reason == "Shutdown")
        #expect(take(&lane, at: sceneTime + 7) != nil)
        settle(&lane, FanOut.Progress(.queue(taken: 1, rested: 0), accepted: 1), at: sceneTime + 7)
        #expect(lane.messages[0].state == .accepted && lane.messages[0].reason == nil)
    }

    @Test func `if no member was accepted and some were refused, the message is rejected with the reason`() throws {
        var lane = try lane()
        lane.accept(message(1), at: sceneTime)
        #expect(take(&lane) != nil)
        settle(&lane, FanOut.Progress(.sweep(to: 9, isLast: true, resting: 0), rejected: 9, reason: "BadTopic"))
        #expect(lane.messages[0].state == .rejected)
        #expect(lane.messages[0].reason == "BadTopic")
        // A message to an empty crowd counts as accepted, because no member was refused.
        lane.accept(message(2), at: sceneTime)
        #expect(take(&lane, at: sceneTime + 1) != nil)
        settle(&lane, swept(to: 0, isSwept: true), at: sceneTime + 1)
        #expect(lane.messages[1].state == .accepted)
    }

    @Test func `after a lease ended another replica repeats the shard, and its answers count once`() throws {
        var lane = try lane()
        lane.accept(message(1), at: sceneTime)
        let first = try #require(take(&lane))
        #expect(lane.due(at: sceneTime) == sceneTime + 5)
        let other = UUID()
        let again = lane.take(
            LaneClaim(
                environment: .production, limit: 1, replica: other, at: sceneTime + 5, leasedUntil: sceneTime + 10,
                laneInterval: 1), requestID: UUID.init)
        #expect(again?.timestamp == first.timestamp)
        #expect(again?.fanOut == FanOut())
        #expect(!settle(&lane, swept(to: 40, accepted: 20), at: sceneTime + 6))
        #expect(lane.messages[0].fanOut?.accepted == 0)
    }

    @Test func `a message that expires half-way is not sent to the rest`() throws {
        var lane = try lane()
        lane.accept(message(1, expiresIn: 3), at: sceneTime)
        #expect(take(&lane) != nil)
        settle(&lane, swept(to: 40, accepted: 20), at: sceneTime + 3)
        #expect(lane.messages[0].state == .expired)
        #expect(lane.messages[0].fanOut?.accepted == 20)
    }

    @Test func `newer state does not wait for members that pause between pushes`() throws {
        var lane = try lane()
        for id in 1...2 {
            lane.accept(message(id), at: sceneTime)
            #expect(take(&lane, at: sceneTime + Double(id)) != nil)
            settle(
                &lane, FanOut.Progress(.sweep(to: 9, isLast: true, resting: 2), again: id - 1, accepted: 7),
                at: sceneTime + Double(id))
        }
        #expect(lane.messages.map(\.state) == [.accepted, .queued])
        #expect(lane.messages[1].fanOut?.pending == 3)
        // Message 2 is not accepted yet: one member that is not resting does not have it.
        lane.accept(message(3), at: sceneTime + 3)
        #expect(lane.messages.map(\.state) == [.accepted, .superseded, .queued])
        #expect(take(&lane, at: sceneTime + 3) != nil)
        settle(&lane, FanOut.Progress(.sweep(to: 9, isLast: true, resting: 2), accepted: 7), at: sceneTime + 3)
        #expect(take(&lane, at: sceneTime + 10) != nil)
        settle(&lane, FanOut.Progress(.queue(taken: 1, rested: 1), accepted: 1), at: sceneTime + 10)
        #expect(lane.messages[2].fanOut?.waiting == 1)
        // The other resting member has left the crowd.
        #expect(take(&lane, at: sceneTime + 17) != nil)
        settle(&lane, FanOut.Progress(.emptyQueue), at: sceneTime + 17)
        #expect(lane.messages[2].state == .accepted)
    }

    @Test func `a member that still pauses between pushes when the message expires counts as expired`() throws {
        var lane = try lane()
        lane.accept(message(1, expiresIn: 30), at: sceneTime)
        #expect(take(&lane) != nil)
        settle(&lane, FanOut.Progress(.sweep(to: 9, isLast: true, resting: 2), accepted: 7))
        #expect(take(&lane, at: sceneTime + 30) == nil)
        #expect(lane.messages[0].state == .accepted)
        let counts = Delivery.Counts(try #require(lane.messages[0].fanOut), .accepted)
        #expect((counts.total, counts.accepted, counts.expired, counts.pending) == (9, 7, 2, 0))
    }

    @Test func `a shard that is settled twice counts once`() throws {
        var lane = try lane()
        lane.accept(message(1), at: sceneTime)
        let first = try #require(take(&lane))
        settle(&lane, swept(to: 40, accepted: 20))
        let second = try #require(take(&lane))
        let repeated = lane.settle(
            swept(to: 40, accepted: 20), of: 1, number: first.attempts, by: replica, again: sceneTime, at: sceneTime)
        #expect(!repeated)
        #expect(lane.messages[0].state == .sending)
        #expect(lane.messages[0].fanOut?.accepted == 20)
        _ = lane.settle(
            swept(to: 60, accepted: 9), of: 1, number: second.attempts, by: replica, again: sceneTime, at: sceneTime)
        #expect(lane.messages[0].fanOut?.accepted == 29)
    }

    @Test func `an alert that a dead replica was sending is repeated unchanged, so it rings once`() throws {
        var lane = try lane()
        lane.accept(message(1, alerting: true), at: sceneTime)
        let lost = try #require(take(&lane))
        lane.accept(message(2), at: sceneTime + 1)
        let again = try #require(take(&lane, at: sceneTime + 5))
        #expect(again.id == 1)
        #expect(again.timestamp == lost.timestamp)
        #expect(again.requestID == lost.requestID)
        #expect(again.content == lost.content)
        // Members in later shards get the alert with the newest content.
        settle(&lane, swept(to: 40, accepted: 20), at: sceneTime + 6)
        let rest = try #require(take(&lane, at: sceneTime + 6))
        #expect(rest.id == 1)
        #expect(rest.content == lane.messages[1].broadcast)
    }

    @Test func `one member without an alert that all others have does not delay newer state`() throws {
        var lane = try lane()
        lane.accept(message(1, alerting: true), at: sceneTime)
        #expect(take(&lane) != nil)
        settle(&lane, FanOut.Progress(.sweep(to: 60, isLast: true, resting: 0), again: 1, accepted: 59))
        #expect(lane.messages[0].state == .queued)
        lane.accept(message(2), at: sceneTime + 1)
        #expect(lane.messages[0].state == .superseded)
        #expect(take(&lane, at: sceneTime + 1)?.id == 2)
    }

    @Test func `a lane is leased for late members if nothing else is being sent or may be sent`() throws {
        var lane = try lane()
        let claim = LaneClaim(
            environment: .production, limit: 1, replica: replica, at: sceneTime, leasedUntil: sceneTime + 5,
            laneInterval: 1)
        var leased = [lane.lease(for: claim)]
        leased.append(lane.lease(for: claim))
        #expect(leased == [true, false])
        #expect(lane.due(at: sceneTime) == sceneTime + 5)
        lane.accept(message(1), at: sceneTime)
        #expect(take(&lane) == nil)
        lane.release(by: UUID(), at: sceneTime)
        #expect(take(&lane) == nil)
        lane.release(by: replica, at: sceneTime)
        leased.append(lane.lease(for: claim))
        #expect(leased.last == false)
        #expect(take(&lane)?.id == 1)
    }

    @Test func `a waiting message also reaches members after its cursor`() throws {
        var lane = try lane()
        #expect(!lane.reaches(50))
        lane.accept(message(1), at: sceneTime)
        #expect(lane.reaches(50))
        #expect(take(&lane) != nil)
        settle(&lane, FanOut.Progress(.sweep(to: 40, isLast: false, resting: 0), again: 1, accepted: 20))
        #expect([3, 50].map(lane.reaches) == [false, true])
        #expect(take(&lane) != nil)
        settle(&lane, swept(to: 60, isSwept: true, accepted: 5))
        #expect([3, 50, 70].map(lane.reaches) == [false, false, false])
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

struct AlignTests {
    @Test func `every audience gets one channel with its policy, and aligning again changes nothing`() async throws {
        try await withStores { stores in
            let audiences = [
                try Audience.sample("com.example.A", .development, .noMessageStored),
                try Audience.sample("com.example.A", .production, .mostRecentMessageStored),
                try Audience.sample("com.example.B", .production, .noMessageStored),
            ]
            let key = try await stores.put(.sample(audiences: audiences)).specification.key
            #expect(try await stores.align() > 0)
            #expect(try await stores.align() == 0)
            let tasks = try await stores.claimChannels()
            let made = tasks.map { task in
                Audience(
                    bundleID: task.channel.bundleID, environment: task.channel.environment,
                    storagePolicy: task.channel.storagePolicy)
            }
            #expect(Set(made) == Set(audiences))
            #expect(tasks.allSatisfy { $0.channel.state == .creating && $0.channel.eventKey == key })
            for task in tasks {
                try await stores.record(.created(channelID: "\(task.channel.id)"), of: task)
            }
            #expect(try await stores.align() == 0)
            let event = try #require(try await stores.events.event(key, now: stores.now))
            #expect(event.channels.map(\.state) == [.active, .active, .active])
            #expect(event.channels.allSatisfy { $0.channelID != nil })
        }
    }

    @Test func `an audience that got its end gets no other channel while its event continues`() async throws {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            try await stores.open(audiences: audiences)
            try await stores.accept(.end(audiences: [audiences[0].id]))
            try await stores.sendOne()
            try await stores.pool.query("update channels set state = 'missing'")
            try await stores.provision()
            #expect(
                try await stores.count(
                    "select count(*) as n from channels where state = 'active' and bundle_id = 'com.example.A'") == 0)
            #expect(
                try await stores.count(
                    "select count(*) as n from channels where state = 'active' and bundle_id = 'com.example.B'") == 1)
        }
    }

    @Test func `channels wait for channelsOpenAt`() async throws {
        try await withStores { stores in
            let at = stores.now.addingTimeInterval(3_600)
            let key = try await stores.put(.sample(channelsOpenAt: at)).specification.key
            #expect(try await stores.align() == 0)
            #expect(try await stores.events.event(key, now: stores.now)?.channels.map(\.state) == [.waiting])
            #expect(try await stores.channels.nextDue(now: stores.now) == at)
            stores.clock.advance(by: 3_600)
            #expect(try await stores.events.event(key, now: stores.now)?.channels.map(\.state) == [.pending])
            #expect(try await stores.provision().map(\.state) == [.active])
            #expect(try await stores.channels.nextDue(now: stores.now) == nil)
        }
    }

    @Test func `an audience added later gets its channel, the others keep theirs`() async throws {
        try await withStores { stores in
            let first = try Audience.sample("com.example.A")
            try await stores.open(audiences: [first])
            let second = try Audience.sample("com.example.B")
            try await stores.put(.sample(audiences: [second, first]))
            #expect(try await stores.provision().map(\.bundleID) == [second.bundleID])
        }
    }

    @Test
    func
        `beyond the limit channels fail with a reason, and each free place goes to the one that waited longest`()
        async throws
    {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 2))
            for n in 1...4 {
                try await stores.put(.sample("match-\(n)"))
                stores.clock.advance(by: 1)
                try await stores.provision()
            }
            let channels = try await (1...4).asyncMap { try await stores.channel(of: "match-\($0)") }
            #expect(channels.map(\.state) == [.active, .active, .failed, .failed])
            #expect(channels.suffix(2).map(\.reason) == ["quota-exhausted", "quota-exhausted"])
            #expect(channels.last?.nextAttemptAt == stores.now.addingTimeInterval(30))

            // The free place must go to an event that already waits, and not to this later one.
            try await stores.put(.sample("match-5"))
            stores.clock.advance(by: 1)
            try await stores.forceDeletion(of: channels[0])
            try await stores.events.cancel(.sample("match-1"), now: stores.now)
            try await stores.deleted(channels[0])
            try await stores.provision()
            let after = try await (3...5).asyncMap { try await stores.channel(of: "match-\($0)").state }
            #expect(after == [.active, .failed, .failed])
        }
    }

    @Test func `a channel that is being created is shown as pending, not as waiting for the quota`() async throws {
        try await withStores { stores in
            let key = try await stores.put(.sample()).specification.key
            try await stores.align()
            let asked = try await stores.channel(of: key.rawValue)
            #expect(asked.state == .creating)
            #expect(asked.reason == nil)
            let shown = try #require(try await stores.events.event(key, now: stores.now)?.channels.first)
            #expect(shown.state == .pending)
            #expect(shown.reason == nil)
        }
    }

    @Test func `an event cancelled before its channels opened waits for none`() async throws {
        try await withStores { stores in
            let at = stores.now.addingTimeInterval(3_600)
            try await stores.put(.sample(channelsOpenAt: at))
            try await stores.put(.sample("ended", channelsOpenAt: at))
            try await stores.accept(.update(), for: "ended")
            try await stores.events.cancel(.sample(), now: stores.now)
            try await stores.events.cancel(
                .sample("ended"), sendingEnd: true, within: .all, by: .server, if: .none, now: stores.now)
            let cancelled = try #require(try await stores.events.event(.sample(), now: stores.now)?.channels.first)
            #expect(cancelled == Audience.ChannelStatus(state: .none))
        }
    }

    @Test func `a failed creation is repeated at its time, not before`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            let at = stores.now.addingTimeInterval(60)
            try await stores.record(
                .notCreated(state: .failed, nextAttemptAt: at), of: task,
                APNsRecord(status: 400, reason: "BadRequestParams", requestID: nil))
            #expect(try await stores.align() == 0)
            #expect(try await stores.claimChannels().isEmpty)
            #expect(try await stores.channels.nextDue(now: stores.now) == at)
            stores.clock.advance(by: 60)
            try await stores.align()
            let again = try #require(try await stores.claimChannels().first)
            #expect(again.channel.id == task.channel.id)
            #expect(again.channel.attempts == 2)
            #expect(again.channel.reason == "BadRequestParams")
        }
    }

    @Test func `an unanswered creation keeps its row and its place, and is not repeated by itself`()
        async throws
    {
        try await withStores { stores in
            try await stores.put(.sample())
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            let kept = try await stores.record(
                .unanswered(settleableAt: stores.now.addingTimeInterval(1)), of: task,
                APNsRecord(status: nil, reason: "no answer", requestID: nil))
            #expect(kept.reason == "no answer")
            #expect(kept.state == .creating)
            #expect(
                try await stores.channels.quotas(now: stores.now, tenure: Stores.tenure).map(\.reserved).reduce(0, +)
                    == 1)
            stores.clock.advance(by: 3_600)
            try await stores.align()
            #expect(try await stores.claimChannels().isEmpty)
        }
    }
}

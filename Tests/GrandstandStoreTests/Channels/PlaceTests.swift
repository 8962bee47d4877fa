internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

/// Which channels get a place when there are too few, and which give theirs up.
@Suite(.timeLimit(.minutes(5)))
struct PlaceTests {
    @Test func `only channels that no device needs any longer give up their places early`() async throws {
        try await withStores { stores in
            // The first channel is kept because Apple stores a message for it; nothing was sent to the second.
            try await stores.open("stored")
            try await stores.accept(.end(expiresIn: 600), for: "stored")
            try await stores.sendOne()
            try await stores.open("spare")
            try await stores.events.cancel(.sample("spare"), now: stores.now)
            try await stores.align()
            func reclaim() async throws -> [EventKey?] {
                try await stores.channels.reclaim(
                    .sample(), limit: 5, now: stores.now, leasedUntil: stores.now.addingTimeInterval(10)
                ).map(\.channel.eventKey)
            }
            #expect(try await reclaim() == [try .sample("spare")])
            #expect(try await reclaim() == [])
            stores.clock.advance(by: 600)
            #expect(try await reclaim() == [try .sample("stored")])
        }
    }

    @Test func `a creation that Apple had no place for is repeated when an unneeded channel retires`() async throws {
        try await withStores { stores in
            try await stores.open("idle")
            try await stores.put(.sample("next"))
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            // The event of the idle channel is not over yet, so its channel cannot give up its place.
            let refused = ChannelOutcome.Change.notCreated(
                state: .failed, nextAttemptAt: stores.now.addingTimeInterval(600))
            try await stores.record(
                refused, of: task,
                APNsRecord(status: 400, reason: APNsReason.cannotCreateChannelConfig.rawValue, requestID: nil))
            try await stores.align()
            #expect(try await stores.claimChannels().isEmpty)
            try await stores.events.cancel(.sample("idle"), now: stores.now)
            try await stores.align()
            #expect(try await stores.claimChannels().map(\.channel.eventKey) == [try .sample("next")])
        }
    }

    @Test
    func
        `at the ledger's own limit idle channels also give up their places, in order and as many as needed`()
        async throws
    {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 3))
            // The first channel must stay, because APNs stores a message for it. The others are only kept for the
            // configured time.
            for key in ["stored", "idle-1", "idle-2"] { try await stores.open(key) }
            try await stores.accept(.end(expiresIn: 600), for: "stored")
            try await stores.sendOne()
            for key in ["idle-2", "idle-1"] {
                stores.clock.advance(by: 1)
                try await stores.events.cancel(.sample(key), now: stores.now)
            }
            try await stores.align()
            try await stores.put(.sample("next"))
            try await stores.align()
            #expect(try await stores.channel(of: "next").state == .failed)
            let tasks = try await stores.claimChannels()
            #expect(tasks.map(\.channel.eventKey) == [try .sample("idle-2")])
            #expect(tasks.map(\.channel.reason) == ["its place was needed"])
            // The place is free once Apple has confirmed the deletion; until then no other deletion is requested.
            try await stores.align()
            #expect(try await stores.claimChannels().isEmpty)
            for task in tasks { try await stores.record(.deleted, of: task) }
            #expect(try await stores.provision().map(\.eventKey) == [try .sample("next")])
            #expect(try await stores.channel(of: "next").state == .active)
            #expect(try await stores.channel(of: "idle-1").state == .retiring)

            // Two more events need a channel. One idle channel can give up its place. The other cannot, because APNs
            // stores a message for it.
            for key in ["more-1", "more-2"] {
                try await stores.put(.sample(key))
                stores.clock.advance(by: 1)
            }
            #expect(try await stores.provision().map(\.eventKey) == [try .sample("idle-1")])
            #expect(try await stores.provision().map(\.eventKey) == [try .sample("more-1")])
            #expect(try await stores.channel(of: "more-2").state == .failed)
            let quota = try await stores.channels.quotas(now: stores.now, tenure: Stores.tenure).last
            #expect(quota?.used == 3)
            #expect(quota?.available == 0)
            stores.clock.advance(by: 600)
            #expect(try await stores.provision().map(\.eventKey) == [try .sample("stored")])
            #expect(try await stores.provision().map(\.eventKey) == [try .sample("more-2")])
        }
    }

    @Test func `a deletion that Apple keeps refusing is not counted as a free place`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 2))
            for key in ["a", "b"] {
                try await stores.open(key)
                try await stores.events.cancel(.sample(key), now: stores.now)
                stores.clock.advance(by: 1)
            }
            try await stores.put(.sample("next"))
            var asked: Set<EventKey?> = []
            for _ in 1...5 {
                try await stores.align()
                for task in try await stores.claimChannels() {
                    asked.insert(task.channel.eventKey)
                    try await stores.record(
                        .notDeleted(nextAttemptAt: stores.now.addingTimeInterval(1)), of: task,
                        APNsRecord(status: 403, reason: "Forbidden", requestID: nil))
                }
                stores.clock.advance(by: 1)
            }
            #expect(asked == [try .sample("a"), try .sample("b")])
        }
    }

    @Test func `free places go to channels in order of opening, then start, then declaration`()
        async throws
    {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            try await stores.open("holder")
            let start = stores.now
            func at(_ hours: Double) -> Date { start.addingTimeInterval(hours * 3_600) }
            // The events are declared in this order. When their openings have come, all of them wait for a place.
            try await stores.put(.sample("next-month", startsAt: at(700)))
            try await stores.put(.sample("tonight", startsAt: at(8)))
            try await stores.put(.sample("opens-second", startsAt: at(9), channelsOpenAt: at(2)))
            try await stores.put(.sample("opens-first-later", startsAt: at(12), channelsOpenAt: at(1)))
            try await stores.put(.sample("opens-first", startsAt: at(10), channelsOpenAt: at(1)))
            try await stores.put(.sample("now"))
            stores.clock.advance(by: 3 * 3_600)
            try await stores.align()
            var order: [String] = []
            var holder = "holder"
            for _ in 1...6 {
                let channel = try await stores.channel(of: holder)
                try await stores.forceDeletion(of: channel)
                try await stores.events.cancel(.sample(holder), now: stores.now)
                try await stores.deleted(channel)
                holder = try #require(try await stores.provision().first?.eventKey?.rawValue)
                order.append(holder)
            }
            #expect(
                order == ["now", "opens-first", "opens-first-later", "opens-second", "tonight", "next-month"])
        }
    }

    @Test func `a place freed at Apple goes to the first of the creations that Apple refused`() async throws {
        try await withStores { stores in
            let spare = try await stores.open("spare")
            try await stores.events.cancel(spare, now: stores.now)
            let start = stores.now
            for (key, hours) in [("next-month", 700.0), ("tonight", 8)] {
                try await stores.put(.sample(key, startsAt: start.addingTimeInterval(hours * 3_600)))
            }
            try await stores.align()
            for task in try await stores.claimChannels() {
                try await stores.record(
                    .notCreated(state: .failed, nextAttemptAt: stores.now.addingTimeInterval(200)), of: task,
                    APNsRecord(status: 403, reason: "CannotCreateChannelConfig", requestID: nil))
            }
            let channel = try await stores.channel(of: "spare")
            try await stores.forceDeletion(of: channel)
            try await stores.deleted(channel)
            #expect(try await stores.provision().map(\.eventKey) == [try .sample("tonight")])
        }
    }

    @Test func `while Apple's channel limit is reached one creation is retried, and the quota says so`()
        async throws
    {
        try await withStores { stores in
            let start = stores.now
            for n in 1...5 {
                try await stores.put(.sample("event-\(n)", startsAt: start.addingTimeInterval(Double(n))))
            }
            func refuse(_ task: ChannelTask) async throws {
                try await stores.record(
                    .notCreated(state: .failed, nextAttemptAt: stores.now.addingTimeInterval(15)), of: task,
                    APNsRecord(status: 400, reason: "CannotCreateChannelConfig", requestID: nil))
            }
            func quota() async throws -> Quota? {
                try await stores.channels.quotas(now: stores.now, tenure: Stores.tenure).first {
                    $0.environment == .production
                }
            }
            try await stores.align()
            let first = try await stores.claimChannels()
            #expect(first.count == 5)
            for task in first { try await refuse(task) }
            let full = try #require(try await quota())
            #expect(full.fullSince == start)
            #expect(full.level == .critical && full.alarms == [.quotaExhausted] && full.available == 0)

            // One creation is tried every 15 seconds: that of the event with the most urgent need.
            for _ in 1...3 {
                stores.clock.advance(by: 20)
                try await stores.align()
                let asking = try await stores.claimChannels()
                #expect(asking.map(\.channel.eventKey) == [try .sample("event-1")])
                for task in asking { try await refuse(task) }
            }
            // Apple has places again: the creations of all waiting events begin at once.
            stores.clock.advance(by: 20)
            #expect(try await stores.provision().map(\.eventKey) == [try .sample("event-1")])
            #expect(try await quota()?.alarms == [])
            #expect(try await stores.provision().count == 4)
            #expect(stores.now.timeIntervalSince(start) < 90)
        }
    }

    @Test func `a planned channel whose opening is moved to later gives up its place in the quota`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            try await stores.put(.sample("moved"))
            try await stores.align()
            let later = stores.now.addingTimeInterval(3_600)
            try await stores.put(.sample("moved", channelsOpenAt: later))
            try await stores.put(.sample("now"))
            #expect(try await stores.provision().map(\.eventKey) == [try .sample("now")])
            #expect(
                try await stores.events.event(.sample("moved"), now: stores.now)?.channels.map(\.state) == [.waiting])
        }
    }
}

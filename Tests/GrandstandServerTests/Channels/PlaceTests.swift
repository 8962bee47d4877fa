internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

struct AlignTests {
    @Test func `every audience gets one channel with its policy, and aligning again changes nothing`() async throws {
        try await withStores { stores in
            let audiences = [
                try Audience.sample("com.example.A", .development, .noMessageStored),
                try Audience.sample("com.example.A"),
                try Audience.sample("com.example.B", .production, .noMessageStored),
            ]
            let key = try await stores.put(.sample(audiences: audiences)).eventKey
            #expect(try await stores.align() > 0)
            #expect(try await stores.align() == 0)
            #expect(try await stores.event(key)?.channels.map(\.state) == [.pending, .pending, .pending])
            let tasks = try await stores.claimChannels()
            let made = tasks.map { Audience(id: $0.channel.audience, storagePolicy: $0.channel.storagePolicy) }
            #expect(Set(made) == Set(audiences))
            #expect(tasks.allSatisfy { $0.channel.state == .creating && $0.channel.eventKey == key })
            for task in tasks { try await stores.record(.created(channelID: "\(task.channel.id)"), of: task) }
            #expect(try await stores.align() == 0)
            let event = try #require(try await stores.event(key))
            #expect(event.channels.map(\.state) == [.active, .active, .active])
            #expect(event.channels.allSatisfy { $0.channelId != nil })
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
            #expect(try await stores.rows("channels where state = 'active'") == 1)
            #expect(try await stores.rows("channels where state = 'active' and bundle_id = 'com.example.B'") == 1)
        }
    }

    @Test func `a failed creation is repeated at its time, not before`() async throws {
        try await withStores { stores in
            let task = try await stores.beginCreation()
            let at = stores.now + 60
            try await stores.refuse(task, "BadRequestParams", for: 60)
            #expect(try await stores.align() == 0)
            #expect(try await stores.claimChannels().isEmpty)
            #expect(try await stores.nextDueChannel() == at)
            stores.clock.advance(by: 60)
            try await stores.align()
            let again = try #require(try await stores.claimChannels().first)
            #expect(again.channel.id == task.channel.id)
            #expect(again.channel.attempts == 2)
            #expect(again.channel.reason == "BadRequestParams")
        }
    }
}

/// Which channels get a place when there are too few, and which give theirs up.
@Suite(.timeLimit(.minutes(20)))
struct PlaceTests {
    /// In seconds from the end of an event: when another event starts that waits for its place (`nil`: it has no
    /// `startsAt`), and when that takes the place.
    @Test(
        arguments: [
            ("live", 0, 0), ("live within ten minutes of the end", 300, 300), ("within the hour", 3_600, 600),
            ("later", 7_200, 3_600), ("at any time", nil, 600), ("in thirty days", 30 * 86_400, StoreWorld.retireAfter),
        ] as [(String, Double?, Double)])
    func `an event takes the place of an ended one when its time needs it, and after ten minutes unless it is live`(
        _ what: String, startsIn: Double?, takesAfter: Double
    ) async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            try await stores.open("tonight")
            try await stores.cancel("tonight")
            try await stores.put(.sample(startsAt: startsIn.map { stores.now + $0 }), as: "next")
            if takesAfter > 0 {
                stores.clock.advance(by: takesAfter - 1)
                try await stores.align()
                #expect(try await stores.claimChannels().isEmpty)
                stores.clock.advance(by: 1)
            }
            try await stores.align()
            #expect(try await stores.claimChannels().map(\.channel.eventKey) == [try .sample("tonight")])
        }
    }

    @Test func `a creation that Apple had no place for takes that of an unneeded channel`() async throws {
        try await withStores { stores in
            try await stores.open("idle")
            try await stores.put(.sample(startsAt: stores.now), as: "next")
            try await stores.align()
            let task = try #require(try await stores.claimChannels().first)
            // The event of the idle channel is not over yet, so its channel cannot give up its place.
            try await stores.refuse(task, "CannotCreateChannelConfig", for: 600)
            try await stores.align()
            #expect(try await stores.claimChannels().isEmpty)
            try await stores.cancel("idle")
            try await stores.align()
            let tasks = try await stores.claimChannels()
            #expect(tasks.map(\.channel.eventKey) == [try .sample("idle")])
            for task in tasks { try await stores.record(.deleted, of: task) }
            #expect(try await stores.provision().map(\.eventKey) == [try .sample("next")])
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
                try await stores.cancel(key)
            }
            try await stores.align()
            try await stores.put(.sample(startsAt: stores.now), as: "next")
            // An event that is not live yet does not get the place that is freed for one that is.
            let nextMonth = stores.now + 30 * 86_400
            try await stores.put(.sample(startsAt: nextMonth, channelsOpenAt: stores.now - 60), as: "in-a-month")
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
            try await stores.put(.sample(startsAt: at(700)), as: "next-month")
            try await stores.put(.sample(startsAt: at(8)), as: "tonight")
            try await stores.put(.sample(startsAt: at(9), channelsOpenAt: at(2)), as: "opens-second")
            try await stores.put(.sample(startsAt: at(12), channelsOpenAt: at(1)), as: "opens-first-later")
            try await stores.put(.sample(startsAt: at(10), channelsOpenAt: at(1)), as: "opens-first")
            try await stores.put(.sample(), as: "now")
            stores.clock.advance(by: 3 * 3_600)
            try await stores.align()
            var order: [String] = []
            var holder = "holder"
            for _ in 1...6 {
                let channel = try await stores.channel(of: holder)
                try await stores.forceDeletion(of: channel)
                try await stores.cancel(holder)
                try await stores.deleted(channel)
                holder = try #require(try await stores.provision().first?.eventKey?.rawValue)
                order.append(holder)
            }
            #expect(order == ["now", "opens-first", "opens-first-later", "opens-second", "tonight", "next-month"])
        }
    }

    @Test func `a deletion that Apple keeps refusing is not counted as a free place`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 2))
            for key in ["a", "b"] {
                try await stores.open(key)
                try await stores.cancel(key)
                stores.clock.advance(by: 1)
            }
            try await stores.put(.sample(startsAt: stores.now), as: "next")
            var asked: Set<EventKey?> = []
            for _ in 1...5 {
                try await stores.align()
                for task in try await stores.claimChannels() {
                    asked.insert(task.channel.eventKey)
                    try await stores.record(
                        .unsuccessful(state: .deleting, nextAttemptAt: stores.now + 1), of: task,
                        Contract.AuditAnswer(status: 403, reason: "Forbidden"))
                }
                stores.clock.advance(by: 1)
            }
            #expect(asked == [try .sample("a"), try .sample("b")])
        }
    }

    @Test func `while Apple's channel limit is reached one creation is retried, and the quota says so`() async throws {
        try await withStores { stores in
            let start = stores.now
            for n in 1...5 {
                try await stores.put(.sample(startsAt: start.addingTimeInterval(Double(n))), as: "event-\(n)")
            }
            func refuse(_ task: ChannelTask) async throws {
                try await stores.refuse(task, "CannotCreateChannelConfig", for: 15)
            }
            try await stores.align()
            let first = try await stores.claimChannels()
            #expect(first.count == 5)
            for task in first { try await refuse(task) }
            let full = try await stores.quota()
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
            #expect(try await stores.quota().alarms == [])
            #expect(try await stores.provision().count == 4)
        }
    }

    @Test func `a planned channel whose opening is moved to later gives up its place in the quota`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            try await stores.put(.sample(), as: "moved")
            try await stores.align()
            let later = stores.now + 3_600
            try await stores.put(.sample(channelsOpenAt: later), as: "moved")
            try await stores.put(.sample(), as: "now")
            #expect(try await stores.provision().map(\.eventKey) == [try .sample("now")])
            #expect(try await stores.event("moved")?.channels.map(\.state) == [.waiting])
        }
    }
}

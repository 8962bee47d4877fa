internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// An event that is cancelled with a last `end`.
@Suite(.timeLimit(.minutes(2)))
struct LastEndTests {
    /// Cancels the event with a last `end`, later than everything that was accepted before.
    private func cancel(_ stores: Stores) async throws {
        stores.clock.advance(by: 1)
        try await stores.events.cancel(
            .sample(), sendingEnd: true, within: .all, by: .server, if: .none, now: stores.now)
    }

    private func broadcasts(_ stores: Stores) async throws -> [Broadcast] {
        try await stores.outbox.broadcasts(of: .sample(), PageRequest()).items
    }

    @Test func `an end sent with a cancellation replaces waiting messages, and the channel retires after it`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let waiting = try await stores.accept(.update(#"{"n":1}"#, alert: #"{"title":"x"}"#))
            try await cancel(stores)
            #expect(try await stores.events.event(.sample(), now: stores.now)?.state == .cancelled)
            #expect(try await stores.state(of: waiting) == .cancelled)
            try await stores.align()
            #expect(try await stores.channel().state == .active)
            let end = try await stores.sendOne()
            #expect(end.text.contains(#""event":"end""#) && end.message.priority == .immediate)
            try await stores.align()
            #expect(try await stores.channel().state == .retiring)
            // A second call sends nothing more.
            try await cancel(stores)
            #expect(try await stores.claim().isEmpty)
            #expect(try await broadcasts(stores).map(\.event) == [.end, .update])
            #expect(try await broadcasts(stores).first?.by == AuditActor.server.text)
        }
    }

    @Test(arguments: [true, false])
    func `if an event is over without an end, one can be sent after a reopening`(_ byClock: Bool)
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            if byClock {
                try await stores.put(.sample(endsAt: stores.now.addingTimeInterval(60)))
                stores.clock.advance(by: ChannelTenure.overdueAfter + 61)
                try await stores.align()
            } else {
                try await stores.events.cancel(.sample(), now: stores.now)
            }
            let over = try await stores.events.event(.sample(), now: stores.now)?.state
            #expect(over == (byClock ? .ended : .cancelled))
            // If no end was sent, a second call cannot send one. The refusal names the reopening, after which an end
            // can be sent.
            try await stores.events.cancel(.sample(), now: stores.now)
            let refusal = await #expect(throws: Problem.self) { try await cancel(stores) }
            #expect(refusal?.kind == .eventEnded)
            #expect(refusal?.detail.contains("POST /v1/events/match-1/reopen") == true)
            #expect(try await stores.claim().isEmpty)

            _ = try await stores.events.reopen(
                .sample(), audiences: nil, within: .all, by: .server, now: stores.now)
            try await cancel(stores)
            #expect(try await stores.sendOne().text.contains(#""event":"end""#))
            try await cancel(stores)
            #expect(try await stores.claim().isEmpty)
        }
    }

    @Test func `if an event is over and its channel is gone nobody can get an end`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.events.cancel(.sample(), now: stores.now)
            try await stores.pool.query("update lanes set channel = null")
            try await cancel(stores)
            #expect(try await broadcasts(stores).isEmpty)
        }
    }

    @Test func `a channel that was never made has no followers, and none is made for an end`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            try await cancel(stores)
            #expect(try await broadcasts(stores).isEmpty)
            #expect(try await stores.provision().isEmpty)
            #expect(try await stores.deliveriesNeverDue() == 0)
        }
    }

    @Test func `activities with tokens get the end, even if the channel was never made`() async throws {
        try await withCrowds { world in
            let stores = world.stores
            try await stores.put(.sample())
            try await world.show("aa01")
            try await cancel(stores)
            let shard = try #require(try await world.claim().first)
            #expect(shard.members.count == 1)
            #expect(String(decoding: shard.body, as: UTF8.self).contains(#""event":"end""#))
            #expect(try await stores.provision().isEmpty)
            // A second call succeeds, because the end was sent.
            try await cancel(stores)
        }
    }

    @Test func `activities with tokens that got no end are named, too`() async throws {
        try await withCrowds { world in
            let stores = world.stores
            try await stores.put(.sample())
            try await world.show("aa01")
            try await stores.events.cancel(.sample(), now: stores.now)
            #expect(try await problem { try await cancel(stores) } == .eventEnded)
        }
    }

    @Test func `an audience that had its end gets no other`() async throws {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            try await stores.open(audiences: audiences)
            try await stores.accept(.end(audiences: [audiences[0].id]))
            try await stores.sendOne()
            try await cancel(stores)
            #expect(try await stores.sendOne().address.bundleID == audiences[1].bundleID)
            #expect(try await stores.claim().isEmpty)
        }
    }

    @Test func `activities of a crowd also get the end that is sent with a cancellation`() async throws {
        try await withCrowds { world in
            let stores = world.stores
            try await stores.open()
            try await world.show("aa01")
            try await cancel(stores)
            try await stores.sendOne()
            let shard = try #require(try await world.claim().first)
            #expect(shard.members.count == 1)
        }
    }

    @Test func `a waiting end of a cancellation can be withdrawn, and the event stays cancelled`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update(#"{"n":1}"#))
            try await stores.accept(.update(#"{"n":2}"#))
            try await cancel(stores)
            let end = try #require(try await broadcasts(stores).first)
            #expect(try await stores.outbox.cancel(end.id, now: stores.now) == true)
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.events.event(.sample(), now: stores.now)?.state == .cancelled)
            try await stores.align()
            #expect(try await stores.channel().state == .retiring)
        }
    }

    @Test func `reopening a cancelled event withdraws the end that waits to be sent`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update(#"{"n":1}"#))
            try await stores.sendOne()
            try await cancel(stores)
            let reopening = try await stores.events.reopen(.sample(), now: stores.now)
            #expect(reopening.event.state == .live && reopening.warnings.isEmpty)
            #expect(try await stores.claim().isEmpty)
            #expect(try await broadcasts(stores).first?.state == .cancelled)
        }
    }
}

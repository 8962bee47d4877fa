internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// The lanes of one audience: one leads and takes every message, the others follow it.
@Suite(.timeLimit(.minutes(2)))
struct CrowdLeadTests {
    /// More bytes than a push to a token may have, but not more than a message to a channel may have.
    private static let large = #"{"t":"\#(String(repeating: "x", count: 4_200))"}"#

    @Test func `an empty crowd neither gets nor rejects a message, and an end ends its event`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.show("aa01")
            try await world.stores.pool.query("update activities set state = 'dismissed'")
            let accepted = try await world.stores.accept(.update(Self.large))
            #expect(accepted.deliveries.map { $0.counts == nil } == [true])
            #expect(try await world.claim().isEmpty)
            try await world.stores.accept(.end())
            #expect(try await world.stores.events.event(.sample(), now: world.now)?.state == .ended)
            #expect(try await world.lookup()?.state == .ended)
        }
    }

    @Test func `a message too large for tokens is rejected only for audiences with members`() async throws {
        try await withCrowds { world in
            let audiences = [try Audience.sample(), try Audience.sample("com.example.Other")]
            try await world.stores.open(audiences: audiences)
            try await world.show("aa01")
            let all = try await world.stores.accept(.update(Self.large))
            #expect(all.deliveries.count(where: { $0.state == .rejected }) == 1 && all.warnings.count == 2)
            let other = try await world.stores.accept(.update(Self.large, audiences: [audiences[1].id]))
            #expect(other.deliveries.allSatisfy { $0.state == .queued } && other.warnings.count == 1)
        }
    }

    @Test func `at its time a scheduled broadcast goes to the channel, even if a new crowd cannot take it`()
        async throws
    {
        try await withCrowds { world in
            try await world.stores.open()
            let at = world.now.addingTimeInterval(60)
            let accepted = try await world.stores.accept(.update(Self.large, sendAt: at))
            try await world.show("aa01")
            world.stores.clock.advance(by: 60)
            #expect(
                try await world.stores.outbox.promote(now: world.now, limit: 10, plan: Stores.plan) == 1)
            let tokens = try await world.tokens(of: accepted)
            #expect((tokens.state, tokens.reason) == (.rejected, "PayloadTooLarge"))
            try await world.stores.sendOne()
            #expect(try await world.stores.outbox.broadcast(accepted.id, within: .all)?.isCancelled == false)
            #expect(try await world.claim().isEmpty)
        }
    }

    @Test func `an audience that changes to tokens keeps its waiting messages, content and order`()
        async throws
    {
        try await withCrowds { world in
            // There is no channel.
            try await world.stores.put(.sample())
            let accepted = try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.reach(by: .tokens)
            let found = try #require(try await world.stores.outbox.broadcast(accepted.id, within: .all))
            #expect(found.deliveries.map(\.state) == [.cancelled, .queued])
            #expect(try await world.lookup()?.contentState == Array(#"{"n":1}"#.utf8))
            try await world.show("aa01")
            let shard = try #require(try await world.claim().first)
            #expect(String(decoding: shard.body, as: UTF8.self).contains(#"{"n":1}"#))
            try await world.settle(shard)
            #expect(try await world.tokens(of: accepted).state == .accepted)
            // The audience goes back to its channel. The channel's lane also has the message that was accepted while
            // tokens led.
            let second = try await world.stores.accept(.update(#"{"n":2}"#))
            try await world.reach(by: .channel)
            #expect(try await world.lookup()?.contentState == Array(#"{"n":2}"#.utf8))
            #expect(try await world.stores.outbox.cancel(second.id, within: .all, by: .server, now: world.now) == true)
            #expect(try await world.lookup()?.contentState == Array(#"{"n":1}"#.utf8))
            try await world.stores.provision()
            try await world.stores.accept(.update(#"{"n":3}"#))
            let sent = try await world.stores.sendOne()
            #expect(try sent.timestamp > Int(world.now.timeIntervalSince1970))
        }
    }

    @Test func `an end that waited for the channel ends the crowd, and leaves nothing behind`() async throws {
        try await withCrowds { world in
            try await world.stores.put(.sample(audiences: [try .sample(), try .sample("com.example.Other")]))
            try await world.stores.accept(.end(audiences: [try .sample()]))
            var tokens = try Audience.sample()
            tokens.delivery = .tokens
            try await world.stores.put(.sample(audiences: [tokens, try .sample("com.example.Other")]))
            #expect(try await world.lookup()?.state == .ended)
            #expect(
                try await problem {
                    try await world.stores.accept(.update(audiences: [try .sample()]))
                } == .eventEnded)
            try await world.stores.events.cancel(.sample(), now: world.now)
            #expect(
                try await world.stores.count("select count(*) as n from deliveries where settled_at is null") == 0)
        }
    }

    @Test func `an audience with tokens keeps its content for lookups, also after the history is deleted`() async throws
    {
        try await withCrowds { world in
            var tokens = try Audience.sample()
            tokens.delivery = .tokens
            try await world.stores.put(.sample(audiences: [tokens, try .sample("com.example.Other")]))
            try await world.stores.accept(.update(#"{"n":1}"#, audiences: [tokens.id]))
            #expect(try await world.lookup()?.contentState == Array(#"{"n":1}"#.utf8))
            // There is no recipient.
            #expect(try await world.claim().isEmpty)
            // The newest content is kept when the history is deleted.
            let history = PostgresHistory(Database(world.stores.pool))
            world.stores.clock.advance(by: 86_400)
            try await world.stores.accept(.update(#"{"n":2}"#, audiences: [try .sample("com.example.Other")]))
            _ = try await history.prune(.broadcasts, before: world.now, limit: 100)
            #expect(try await world.lookup()?.contentState == Array(#"{"n":1}"#.utf8))
            try await world.stores.accept(.end(audiences: [tokens.id]))
            #expect(try await world.lookup()?.state == .ended)
        }
    }

    @Test func `a withdrawn broadcast does not become the content of a new crowd`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.stores.sendOne()
            let second = try await world.stores.accept(.update(#"{"n":2}"#))
            try await world.show("aa01")
            #expect(try await world.stores.outbox.cancel(second.id, within: .all, by: .server, now: world.now) == true)
            let late = try #require(try await world.claim().first)
            #expect(String(decoding: late.body, as: UTF8.self).contains(#"{"n":1}"#))
            // The broadcast `third` is accepted when the crowd already exists. Its withdrawal also removes it from the
            // crowd's own content.
            try await world.settle(late)
            let third = try await world.stores.accept(.update(#"{"n":3}"#))
            #expect(try await world.stores.outbox.cancel(third.id, within: .all, by: .server, now: world.now) == true)
            try await world.show("aa02")
            let later = try #require(try await world.claim().first)
            #expect(String(decoding: later.body, as: UTF8.self).contains(#"{"n":1}"#))
        }
    }

    @Test func `a broadcast that a late member got cannot be withdrawn, even if it waits elsewhere`() async throws {
        try await withCrowds { world in
            try await world.stores.put(.sample())
            let accepted = try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.show("aa01")
            #expect(try await world.claim().first?.members.count == 1)
            #expect(
                try await world.stores.outbox.cancel(accepted.id, within: .all, by: .server, now: world.now) == false)
        }
    }
}

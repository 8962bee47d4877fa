internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// An audience's messages to its channel and to its tokens: its content, its end and its timestamps are the same.
@Suite(.timeLimit(.minutes(20)))
struct CrowdLeadTests {
    /// More bytes than a push to a token may have, but not more than a message to a channel may have.
    private static let large = #"{"t":"\#(String(repeating: "x", count: 4_200))"}"#

    @Test func `dismissed activities neither get nor reject a message, and an end ends their event`() async throws {
        try await withCrowds { world in
            try await world.stores.open()
            try await world.show("aa01")
            try await world.stores.pool.query("update activities set state = 'dismissed'")
            let accepted = try await world.stores.accept(.update(Self.large))
            #expect(accepted.deliveries.map { $0.counts == nil } == [true])
            #expect(try await world.claim().isEmpty)
            try await world.stores.accept(.end())
            #expect(try await world.stores.event()?.state == .ended)
            #expect(try await world.stores.lookup()?.state == .ended)
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
            let at = world.now + 60
            let accepted = try await world.stores.accept(.update(Self.large, sendAt: at))
            try await world.show("aa01")
            world.stores.clock.advance(by: 60)
            #expect(
                try await world.stores.outbox.promote(now: world.now, limit: 10) == 1)
            let tokens = try await world.tokens(of: accepted)
            #expect((tokens.state, tokens.reason) == (.rejected, "PayloadTooLarge"))
            try await world.stores.sendOne()
            #expect(try await world.stores.read(accepted)?.state != .cancelled)
            #expect(try await world.claim().isEmpty)
        }
    }

    @Test func `an audience that changes to tokens keeps its waiting messages, content and order`() async throws {
        try await withCrowds { world in
            // There is no channel.
            try await world.stores.put(.sample())
            let accepted = try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.reach(by: .tokens)
            try await refuses(.payloadTooLarge) { try await world.stores.accept(.update(Self.large)) }
            let found = try #require(try await world.stores.read(accepted))
            #expect(found.deliveries.map(\.state) == [.queued])
            #expect(try await world.stores.lookup()?.contentState?.description == #"{"n":1}"#)
            try await world.show("aa01")
            let shard = try #require(try await world.claim().first)
            #expect(shard.text.contains(#"{"n":1}"#))
            try await world.settle(shard)
            #expect(try await world.tokens(of: accepted).state == .accepted)
            // The audience goes back to its channel.
            let second = try await world.stores.accept(.update(#"{"n":2}"#))
            try await world.reach(by: .channel)
            #expect(try await world.stores.lookup()?.contentState?.description == #"{"n":2}"#)
            #expect(try await world.stores.withdraw(second) == true)
            #expect(try await world.stores.lookup()?.contentState?.description == #"{"n":1}"#)
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
            #expect(try await world.stores.lookup()?.state == .ended)
            try await refuses(.eventEnded) { try await world.stores.accept(.update(audiences: [try .sample()])) }
            try await world.stores.cancel()
            #expect(try await world.stores.rows("deliveries where settled_at is null") == 0)
        }
    }

    @Test func `a broadcast that a late member got cannot be withdrawn, even if it waits elsewhere`() async throws {
        try await withCrowds { world in
            try await world.stores.put(.sample())
            let accepted = try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.show("aa01")
            #expect(try await world.claim().first?.members.count == 1)
            #expect(try await world.stores.withdraw(accepted) == false)
        }
    }

    private func audiences(_ names: String?...) throws -> [Audience] { try names.map { try .sample(variant: $0) } }

    private static func tokens() throws -> Audience {
        var audience = try Audience.sample()
        audience.delivery = .tokens
        return audience
    }

    /// A new activity joins and gets this content.
    private func join(_ token: String, _ world: CrowdWorld, gets text: String) async throws {
        try await world.show(token)
        let late = try #require(try await world.claim().first, "nothing for who came late")
        #expect(late.text.contains(text))
        try await world.settle(late)
    }

    private func send(_ text: String, _ world: CrowdWorld) async throws {
        world.stores.clock.advance(by: 2)
        try await world.stores.accept(.update(text))
        for claimed in try await world.stores.claim() { try await world.stores.settle(claimed, .ok) }
        try await world.sendAll()
    }

    // MARK: Another audience leads

    @Test(arguments: [[nil, "de"], ["fr", "de"], ["fr"], [nil]] as [[String?]])
    func `an audience added later for a crowd's activities knows the content that they got`(names: [String?])
        async throws
    {
        try await withCrowds { world in
            try await world.stores.open(audiences: audiences("de"))
            try await world.show("aa01")
            try await send(#"{"n":1}"#, world)
            try await world.stores.put(.sample(audiences: names.map { try .sample(variant: $0) }))
            try await join("aa02", world, gets: #"{"n":1}"#)
            // A message that is sent and withdrawn leaves the crowd's content unchanged.
            world.stores.clock.advance(by: 2)
            let second = try await world.stores.accept(.update(#"{"n":2}"#))
            #expect(try await world.stores.withdraw(second) == true)
            try await join("aa03", world, gets: #"{"n":1}"#)
            try await send(#"{"n":3}"#, world)
            try await join("aa04", world, gets: #"{"n":3}"#)
        }
    }

    // MARK: Opened again

    @Test(arguments: [false, true])
    func `an event with tokens only keeps its content, also with a channel later`(isCancelled: Bool)
        async throws
    {
        try await withCrowds { world in
            try await world.stores.put(.sample(audiences: [Self.tokens()]))
            try await world.show("aa01")
            try await send(#"{"n":1}"#, world)
            if isCancelled {
                try await world.stores.cancel()
            } else {
                try await world.stores.accept(.end(#"{"n":2}"#))
            }
            let reopening = try await world.stores.events.reopen(.sample(), audiences: nil, now: world.now)
            #expect(reopening.channels.map(\.channel) == [.none])
            #expect(try await world.stores.lookup()?.state == .live)
            #expect(try await world.stores.lookup()?.contentState?.description == #"{"n":1}"#)
            try await join("aa02", world, gets: #"{"n":1}"#)
            try await world.reach(by: .channel)
            try await world.stores.provision()
            try await world.stores.accept(.update(#"{"n":3}"#))
            #expect(try await world.stores.sendOne().text.contains(#"{"n":3}"#))
            world.stores.clock.advance(by: 2)
            #expect(
                try await world.claim().first?.text.contains("3") == true)
        }
    }

    @Test(arguments: [false, true])
    func `content that a crowd got stays the newest, even if the delivery by channel was cancelled`(sendsEnd: Bool)
        async throws
    {
        try await withCrowds { world in
            try await world.stores.put(.sample())
            try await world.show("aa01")
            let accepted = try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.sendAll()
            #expect(try await world.tokens(of: accepted).state == .accepted)
            world.stores.clock.advance(by: 2)
            try await world.stores.events.cancel(
                .sample(), sendingEnd: sendsEnd, within: .all, by: .server, if: .none, now: world.now)
            _ = try await world.stores.events.reopen(.sample(), audiences: nil, now: world.now)
            #expect(try await world.stores.lookup()?.contentState?.description == #"{"n":1}"#)
            world.stores.clock.advance(by: 2)
            try await join("aa02", world, gets: #"{"n":1}"#)
        }
    }
}

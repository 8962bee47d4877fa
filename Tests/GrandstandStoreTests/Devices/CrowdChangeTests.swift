internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

/// Crowds whose leading lane changes, and withdrawn messages to crowds: a later activity gets the same content as the
/// others.
@Suite(.timeLimit(.minutes(2)))
struct CrowdChangeTests {
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
        #expect(String(decoding: late.body, as: UTF8.self).contains(text))
        try await world.settle(late)
    }

    private func send(_ text: String, _ world: CrowdWorld) async throws {
        world.stores.clock.advance(by: 2)
        try await world.stores.accept(.update(text))
        for claimed in try await world.stores.claim() { try await world.stores.settle(claimed, .ok) }
        for shard in try await world.claim() { try await world.settle(shard) }
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
            #expect(try await world.stores.outbox.cancel(second.id, within: .all, by: .server, now: world.now) == true)
            try await join("aa03", world, gets: #"{"n":1}"#)
            try await send(#"{"n":3}"#, world)
            try await join("aa04", world, gets: #"{"n":3}"#)
        }
    }

    @Test func `after a change from tokens to a channel the content and order continue`() async throws {
        try await withCrowds { world in
            try await world.stores.put(.sample(audiences: [Self.tokens(), .sample(variant: "de")]))
            try await world.stores.provision()
            try await world.show("aa01")
            try await world.stores.accept(.update(#"{"n":1}"#, audiences: [Self.tokens().id]))
            for shard in try await world.claim() { try await world.settle(shard) }
            // The audience is removed. Now the audience of a variant leads the app's crowd.
            try await world.stores.put(.sample(audiences: audiences("de")))
            try await join("aa02", world, gets: #"{"n":1}"#)
            // The audience returns and has its crowd's content.
            try await world.stores.put(.sample(audiences: [Self.tokens(), .sample(variant: "de")]))
            #expect(try await world.lookup()?.contentState == Array(#"{"n":1}"#.utf8))
            try await join("aa03", world, gets: #"{"n":1}"#)
        }
    }

    // MARK: Opened again

    @Test func `reopening an audience with tokens that is not over leaves its superseded messages unchanged`()
        async throws
    {
        try await withCrowds { world in
            // There is no channel: the second message replaces the first, and is sent to the crowd.
            try await world.stores.put(.sample())
            let first = try await world.stores.accept(.update(#"{"n":1}"#))
            try await world.stores.accept(.update(#"{"n":2}"#))
            try await world.reach(by: .tokens)
            let reopening = try await world.stores.events.reopen(.sample(), audiences: nil, now: world.now)
            #expect(reopening.parts.map(\.outcome) == [.none])
            #expect(try await world.stores.state(of: first) == .superseded)
            let entries = try await world.stores.auditLog.entries(
                where: AuditFilter(action: .eventReopened), PageRequest())
            #expect(entries.items.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `an event with tokens only keeps its content, also with a channel later`(isCancelled: Bool)
        async throws
    {
        try await withCrowds { world in
            try await world.stores.put(.sample(audiences: [Self.tokens()]))
            try await world.show("aa01")
            try await send(#"{"n":1}"#, world)
            if isCancelled {
                try await world.stores.events.cancel(.sample(), now: world.now)
            } else {
                try await world.stores.accept(.end(#"{"n":2}"#))
            }
            let reopening = try await world.stores.events.reopen(.sample(), audiences: nil, now: world.now)
            #expect(reopening.parts.map(\.outcome) == [.none])
            #expect(try await world.lookup()?.state == .live)
            #expect(try await world.lookup()?.contentState == Array(#"{"n":1}"#.utf8))
            try await join("aa02", world, gets: #"{"n":1}"#)
            try await world.reach(by: .channel)
            try await world.stores.provision()
            try await world.stores.accept(.update(#"{"n":3}"#))
            #expect(try await world.stores.sendOne().text.contains(#"{"n":3}"#))
            world.stores.clock.advance(by: 2)
            #expect(
                try await world.claim().first.map { String(decoding: $0.body, as: UTF8.self) }?.contains("3") == true)
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
            for shard in try await world.claim() { try await world.settle(shard) }
            #expect(try await world.tokens(of: accepted).state == .accepted)
            world.stores.clock.advance(by: 2)
            try await world.stores.events.cancel(
                .sample(), sendingEnd: sendsEnd, within: .all, by: .server, if: .none, now: world.now)
            _ = try await world.stores.events.reopen(.sample(), audiences: nil, now: world.now)
            #expect(try await world.lookup()?.contentState == Array(#"{"n":1}"#.utf8))
            world.stores.clock.advance(by: 2)
            try await join("aa02", world, gets: #"{"n":1}"#)
        }
    }

    @Test func `a declaration reopens an expired event with tokens`() async throws {
        try await withCrowds { world in
            try await world.stores.put(
                .sample(endsAt: world.now.addingTimeInterval(3_600), audiences: [Self.tokens()]))
            try await world.show("aa01")
            try await send(#"{"n":1}"#, world)
            world.stores.clock.advance(by: 14 * 3_600)
            try await world.stores.align()
            #expect(try await world.lookup()?.state == .ended)
            try await world.stores.put(
                .sample(endsAt: world.now.addingTimeInterval(3_600), audiences: [Self.tokens()]))
            #expect(try await world.lookup()?.state == .live)
            try await join("aa02", world, gets: #"{"n":1}"#)
        }
    }
}

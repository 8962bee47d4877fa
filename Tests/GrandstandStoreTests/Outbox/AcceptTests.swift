internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

struct AcceptTests {
    @Test func `a message is accepted, claimed and settled, and answers match the database`() async throws {
        try await withStores { stores in
            try await stores.open()
            let channel = try await stores.channel()
            let accepted = try await stores.accept(.update(alert: #"{"title":"Goal"}"#))
            #expect(try await stores.outbox.broadcast(accepted.id)?.withoutMessage == accepted)
            #expect(accepted.state == .queued)

            let claimed = try #require(try await stores.claim().first)
            #expect(claimed.attempts == 1)
            #expect(claimed.address == (try await stores.channels.address(of: .sample(), in: .production)))
            #expect(claimed.message.channelID == channel.channelID)
            #expect(claimed.message.priority == .immediate)
            #expect(claimed.message.expiration == 1_700_000_000 + 28_800)
            #expect(claimed.expiresAt == stores.now + 28_800)
            #expect(
                claimed.text
                    == #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{"score":"1-0"},"#
                    + #""alert":{"title":"Goal"}}}"#)
            #expect(try await stores.state(of: accepted) == .sending)

            stores.clock.advance(by: 0.5)
            try await stores.settle(claimed, .accepted(APNsReceipt(requestID: "r", uniqueID: "u")))
            let done = try #require(try await stores.outbox.broadcast(accepted.id))
            let delivery = try #require(done.deliveries.first)
            #expect(done.state == .done)
            #expect(delivery.state == .accepted)
            #expect(delivery.apnsUniqueID == "u")
            #expect(delivery.apnsRequestID == claimed.message.requestID)
            #expect(delivery.apnsRequestID == accepted.deliveries.first?.apnsRequestID)
            #expect(delivery.timestamp == 1_700_000_000)
            #expect(delivery.settledAt == stores.now)
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.outbox.nextDue() == nil)
        }
    }

    @Test func `there is one delivery for each audience in order, or for the selected ones`() async throws {
        try await withStores { stores in
            let audiences = [
                try Audience.sample("com.example.B", .production, .noMessageStored),
                try Audience.sample("com.example.A", .development, .mostRecentMessageStored),
                try Audience.sample("com.example.A", .production, .mostRecentMessageStored),
            ]
            // The order of the deliveries does not depend on the age of the lanes.
            try await stores.open(audiences: [audiences[2]])
            try await stores.open(audiences: audiences)
            let all = try await stores.accept(.update())
            #expect(try await stores.outbox.broadcast(all.id)?.withoutMessage == all)
            #expect(all.deliveries.map(\.bundleID) == audiences.map(\.bundleID))
            #expect(all.deliveries.map(\.environment) == audiences.map(\.environment))
            #expect(all.deliveries.map(\.apnsExpiration) == [0, 1_700_028_800, 1_700_028_800])

            let one = try await stores.accept(.update(audiences: [audiences[1].id]))
            #expect(one.deliveries.map(\.bundleID.rawValue) == ["com.example.A"])
            #expect(one.deliveries.map(\.environment) == [.development])
        }
    }

    @Test
    func `an unknown event, an unknown audience and a message that is too large are refused one by one`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let stranger = try Audience.sample("com.example.Other").id
            let long = #"{"text":""# + String(repeating: "x", count: 5_120) + #""}"#
            let items = [
                BroadcastIntake(eventKey: try .sample("nothing"), request: .update()),
                BroadcastIntake(eventKey: try .sample(), request: .update(audiences: [stranger])),
                BroadcastIntake(eventKey: try .sample(), request: .update()),
                BroadcastIntake(eventKey: try .sample(), request: .update(long)),
            ]
            let results = try await stores.outbox.accept(items, now: stores.now, plan: Stores.plan)
            #expect(results.map { $0.failure?.kind } == [.eventNotFound, .invalidRequest, nil, .payloadTooLarge])
            #expect(try await stores.rows("broadcasts") == 1)
            #expect(try await stores.rows("deliveries") == 1)
        }
    }

    @Test func `of two updates and an end in one batch only the end is sent, and later messages are refused`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let results = try await stores.accept([
                .update(#"{"n":1}"#), .update(#"{"n":2}"#), .end(#"{"n":3}"#), .update(#"{"n":4}"#),
            ])
            #expect(results.map { $0.failure?.kind } == [nil, nil, nil, .eventEnded])
            let states = try await results.prefix(3).asyncMap { try await stores.state(of: $0.get()) }
            #expect(states == [.superseded, .superseded, .queued])
            #expect(try await stores.sendOne().text.contains(#"{"n":3}"#))
            #expect(try await stores.claim().isEmpty)
        }
    }

    @Test func `a batch may name several events, and the same one twice`() async throws {
        try await withStores { stores in
            try await stores.open("b")
            try await stores.open("a")
            let results = try await stores.outbox.accept(
                [
                    BroadcastIntake(eventKey: try .sample("b"), request: .update(#"{"n":1}"#)),
                    BroadcastIntake(eventKey: try .sample("a"), request: .update(#"{"n":2}"#)),
                    BroadcastIntake(eventKey: try .sample("b"), request: .update(#"{"n":3}"#)),
                ], now: stores.now, plan: Stores.plan)
            #expect(try results.map { try $0.get().eventKey?.rawValue } == ["b", "a", "b"])
            let sent = try await stores.claim().map(\.text)
            #expect(sent.count == 2)
            #expect(sent.contains { $0.contains(#"{"n":2}"#) })
            #expect(sent.contains { $0.contains(#"{"n":3}"#) })
        }
    }

    @Test func `a message to all names the audiences that had their end, and every warning is stored`() async throws {
        try await withStores { stores in
            let (over, live) = (try Audience.sample("com.example.Over"), try Audience.sample("com.example.Live"))
            try await stores.open(audiences: [over, live])
            try await stores.accept(.end(audiences: [over.id]))
            let large = #"{"text":""# + String(repeating: "x", count: 4_100) + #""}"#
            let accepted = try await stores.accept(.update(large))
            #expect(accepted.deliveries.map(\.bundleID) == [live.bundleID])
            #expect(accepted.warnings.count == 2)
            #expect(accepted.warnings.last?.contains("com.example.Over in production") == true)
            #expect(try await stores.outbox.broadcast(accepted.id)?.warnings == accepted.warnings)
            #expect(try await stores.accept(.update(audiences: [live.id])).warnings == [])
        }
    }

    @Test func `the first update makes an event live, and the end ends it`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            #expect(try await stores.events.event(key, now: stores.now)?.state == .scheduled)
            try await stores.accept(.update())
            #expect(try await stores.events.event(key, now: stores.now)?.state == .live)
            try await stores.accept(.end())
            #expect(try await stores.events.event(key, now: stores.now)?.state == .ended)
        }
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

extension Sequence {
    func asyncMap<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}

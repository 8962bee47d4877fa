internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import JSON
internal import Postgres
internal import Testing

/// An audience that is reached by tokens has no channel, and nothing waits for one.
struct DeliveryByTokensTests {
    private static func audience(_ delivery: Audience.Delivery) throws -> Audience {
        var audience = try Audience.sample()
        audience.delivery = delivery
        return audience
    }

    @Test func `an audience with delivery by tokens gets no channel, and none is forecast`() async throws {
        try await withStores { stores in
            let event = try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            #expect(event.specification.audiences.map(\.delivery) == [.tokens])
            #expect(event.channels.map(\.state) == [.none])
            #expect(try await stores.provision().isEmpty)
            let quota = try #require(
                try await stores.channels.quotas(now: stores.now, tenure: Stores.tenure)
                    .first { $0.environment == .production })
            #expect(quota.forecast.peak == 0)
        }
    }

    @Test func `the lookup of an audience with delivery by tokens says so`() async throws {
        try await withStores { stores in
            try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            let entry = try #require(
                try await stores.events.lookup(
                    topic: "com.example.goal", in: .production, .sample(), contentState: false, now: stores.now))
            let record = try #require(
                try await PostgresLookupSource(Database(stores.pool)).records(of: [.sample()]).values.first?.first)
            for answer in [LookupAnswer(entry), record.answer(of: try .sample(), now: stores.now)] {
                guard case .found = answer else {
                    Issue.record("\(answer)")
                    continue
                }
            }
            #expect(
                String(decoding: JSONWriter.text(Contract.Lookup(entry)), as: UTF8.self).contains(
                    #""channelId":null,"delivery":"tokens""#))
        }
    }

    @Test func `after a change to tokens the channel retires, and after a change back it is kept`() async throws {
        try await withStores { stores in
            try await stores.open()
            let channel = try await stores.channel()
            try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            #expect(try await stores.count("select count(*) as n from lanes where channel is not null") == 0)
            try await stores.put(.sample(audiences: [try Self.audience(.channel)]))
            #expect(try await stores.count("select count(*) as n from lanes where channel = \(channel.id)") == 1)
            try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            try await stores.align()
            #expect(try await stores.channel().state == .retiring)
            #expect(try await stores.claimChannels().isEmpty)
        }
    }

    @Test func `no channel can be imported for an audience with delivery by tokens`() async throws {
        try await withStores { stores in
            try await stores.put(.sample(audiences: [try Self.audience(.tokens)]))
            let refusal = try await problem {
                try await stores.channels.import(
                    ChannelImport(
                        bundleID: .sample(), environment: .production, channelID: "apple-1",
                        storagePolicy: .mostRecentMessageStored, label: nil, eventKey: .sample(),
                        answer: APNsRecord(status: 200, reason: nil, requestID: nil)),
                    by: .commandLine, now: stores.now)
            }
            #expect(refusal == .invalidRequest)
        }
    }
}

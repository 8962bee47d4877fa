internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

/// Audiences of one app and environment with different variants: each has its own lane and channel.
struct VariantTests {
    private static let languages = ["de", "fr", "it"]
    private static let all: [String?] = ["de", "fr", "it", nil]

    private func audiences(
        _ names: [String?] = Self.languages, _ policy: StoragePolicy = .mostRecentMessageStored
    ) throws -> [Audience] {
        try names.map { try .sample("com.example.Goal", .production, policy, variant: $0) }
    }

    /// For each variant, the ID of the channel that devices can follow; `nil`: there is none.
    private func channels(_ stores: StoreWorld, _ names: [String?] = Self.languages) async throws -> [String?] {
        var channels: [String?] = []
        for name in names { channels.append(try await stores.lookup(variant: name)?.channelId) }
        return channels
    }

    @Test func `each variant has a channel and a place in the quota, and lookups name it`() async throws {
        try await withStores { stores in
            try await stores.open(audiences: audiences())
            let channels = try await channels(stores)
            #expect(Set(channels.compactMap(\.self)).count == 3)
            // A lookup without a variant names the first audience of the present declaration.
            for names in [["fr", "de", "it"], Self.languages] {
                try await stores.put(.sample(audiences: audiences(names)))
                #expect(try await stores.lookup()?.variant == names[0])
            }
            try await stores.open(audiences: audiences(Self.all))
            #expect(try await stores.lookup()?.variant == nil)
            #expect(try await stores.lookup(variant: "es") == nil)
            let quota = try await stores.quota()
            #expect((quota.used, quota.forecast.peak) == (4, 4))
            #expect(try await self.channels(stores) == channels)
        }
    }

    @Test func `a scheduled broadcast has a content for each variant left`() async throws {
        try await withStores { stores in
            try await stores.open(audiences: audiences())
            let scheduled = try await stores.accept(
                .update(
                    #"{"n":1}"#, sendAt: stores.now + 60,
                    byVariant: ["fr": (#"{"n":"un"}"#, nil), "de": (#"{"n":"eins"}"#, nil)]))
            try await stores.put(.sample(audiences: audiences(["de"])))
            stores.clock.advance(by: 60)
            #expect(try await stores.promote() == 1)
            #expect(try await stores.delivery(of: scheduled).variant == "de")
            #expect(try await stores.sendOne().text.contains(#"{"n":"eins"}"#))
        }
    }

    @Test func `a new priority changes no channel, and a new policy only its variant's`() async throws {
        try await withStores { stores in
            try await stores.open(audiences: audiences())
            let channels = try await channels(stores)
            stores.clock.advance(by: 60)
            var changed = try audiences()
            changed[0].priority = 1
            let event = try await stores.put(.sample(audiences: changed))
            #expect(event.audiences.map(\.priority) == [1, nil, nil])
            #expect(try await stores.provision().isEmpty)
            #expect(try await self.channels(stores) == channels)
            let broadcast = try await stores.accept(.update())
            #expect(broadcast.deliveries.map(\.priority) == [1, 5, 5])

            changed[1].storagePolicy = .noMessageStored
            try await stores.put(.sample(audiences: changed))
            stores.clock.advance(by: 1)
            try await stores.provision()
            let now = try await self.channels(stores)
            #expect((now[0], now[2]) == (channels[0], channels[2]))
            #expect(now[1] != nil && now[1] != channels[1])
        }
    }

    @Test func `an imported channel is for the named variant`() async throws {
        try await withStores { stores in
            try await stores.put(.sample(audiences: audiences(["de", "fr"])))
            func take(_ channelID: String, _ variant: String?) async throws -> Channel {
                try await stores.adopt(channelID, for: "match-1", variant: variant)
            }
            try await refuses(.invalidRequest) { try await take("none", nil) }
            #expect(try await take("theirs", "fr").variant?.rawValue == "fr")
            #expect(try await channels(stores, ["de", "fr"]) == [nil, "theirs"])
            try await refuses(.channelExists) { try await take("another", "fr") }
            try await stores.provision()
            #expect(try await channels(stores, ["de", "fr"])[0] != nil)
        }
    }
}

/// If the storage policy of an audience changes, it is the same audience with another channel.
struct StoragePolicyTests {
    private let stored = Result { try Audience.sample() }
    private let unstored = Result { try Audience.sample("com.example.Goal", .production, .noMessageStored) }

    private func change(_ stores: StoreWorld, to audience: Result<Audience, any Error>) async throws -> Contract.Event {
        stores.clock.advance(by: 1)
        return try await stores.put(.sample(audiences: [audience.get()]))
    }

    /// Runs the provisioning one second after the change.
    private func provision(_ stores: StoreWorld) async throws {
        stores.clock.advance(by: 1)
        try await stores.provision()
    }

    @Test
    func `after a change of policy, with a warning, the new channel gets the messages, and lookups keep the content`()
        async throws
    {
        try await withEvent { stores in
            let old = try await stores.channel()
            try await stores.accept(.update(#"{"n":1}"#))
            let first = try await stores.sendOne()
            let event = try await change(stores, to: unstored)
            #expect(event.channels.map(\.state) == [.pending])
            let lost = try #require(old.channelID)
            #expect(event.warnings?.map { $0.contains("so its channel \(lost) is replaced.") } == [true])
            func entry() async throws -> Contract.Lookup? { try await stores.lookup() }
            #expect(try await entry()?.channelId == nil)
            try await provision(stores)
            let new = try await stores.channel()
            #expect(new.id != old.id && new.storagePolicy == .noMessageStored)
            let retired = try #require(try await stores.channel(old.id))
            #expect(retired.state == .retiring)
            // The old channel is kept until the message that APNs stores for it has expired.
            #expect(retired.nextAttemptAt == first.message.expiresAt)
            #expect(try await entry()?.channelId == new.channelID)
            #expect(try await entry()?.contentState?.description == #"{"n":1}"#)
            try await stores.accept(.update(#"{"n":2}"#))
            let second = try await stores.sendOne()
            #expect(second.message.channelID == new.channelID && second.message.apnsExpiration == 0)
            #expect(try second.timestamp > first.timestamp)
            #expect(second.lane == first.lane)
        }
    }

    @Test func `a waiting message gets an expiration from a new storing policy, unless apnsExpiration was given`()
        async throws
    {
        try await withStores { stores in
            try await stores.open(audiences: [unstored.get()])
            var once = Contract.BroadcastDraft.update(alert: "{}")
            once.apnsExpiration = 0
            try await stores.accept(once)
            let update = try await stores.accept(.update(expiresIn: 600))
            _ = try await change(stores, to: stored)
            try await provision(stores)
            #expect(try await stores.sendOne().message.apnsExpiration == 0)
            let until = Int(update.acceptedAt.timeIntervalSince1970) + 600
            #expect(try await stores.sendOne().message.apnsExpiration == until)
        }
    }

    @Test func `a change that is undone before the channel retired keeps the channel`() async throws {
        try await withEvent { stores in
            let channel = try await stores.channel()
            let broadcast = try await stores.accept(.update())
            _ = try await change(stores, to: unstored)
            let event = try await change(stores, to: stored)
            #expect(event.channels.map(\.state) == [.active])
            #expect(try await stores.provision().isEmpty)
            #expect(try await stores.sendOne().message.channelID == channel.channelID)
            #expect(try await stores.state(of: broadcast) == .accepted)
            #expect(try await stores.channel().id == channel.id)
        }
    }
}

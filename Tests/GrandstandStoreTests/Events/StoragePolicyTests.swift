internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// If the storage policy of an audience changes, it is the same audience with another channel.
struct StoragePolicyTests {
    private let stored = Result { try Audience.sample() }
    private let unstored = Result { try Audience.sample("com.example.Goal", .production, .noMessageStored) }

    private func change(_ stores: Stores, to audience: Result<Audience, any Error>) async throws -> Event {
        stores.clock.advance(by: 1)
        return try await stores.put(.sample(audiences: [audience.get()]))
    }

    /// Runs the provisioning one second after the change.
    private func provision(_ stores: Stores) async throws {
        stores.clock.advance(by: 1)
        try await stores.provision()
    }

    @Test func `after a change of policy the new channel gets the messages, and lookups keep the content`()
        async throws
    {
        try await withStores { stores in
            let key = try await stores.open()
            let old = try await stores.channel()
            try await stores.accept(.update(#"{"n":1}"#))
            let first = try await stores.sendOne()
            let event = try await change(stores, to: unstored)
            #expect(event.channels.map(\.state) == [.pending])
            func entry() async throws -> LookupEntry? {
                try await stores.events.lookup(
                    topic: "com.example.goal", in: .production, key, contentState: true, now: stores.now)
            }
            #expect(try await entry()?.channelID == nil)
            try await provision(stores)
            let new = try await stores.channel()
            #expect(new.id != old.id && new.storagePolicy == .noMessageStored)
            let retired = try #require(try await stores.channels.channel(old.id, of: .sample(), in: .production))
            #expect(retired.state == .retiring)
            // The old channel is kept until the message that APNs stores for it has expired.
            #expect(retired.nextAttemptAt == first.expiresAt)
            #expect(try await entry()?.channelID == new.channelID)
            #expect(try await entry()?.contentState.map { String(decoding: $0, as: UTF8.self) } == #"{"n":1}"#)
            try await stores.accept(.update(#"{"n":2}"#))
            let second = try await stores.sendOne()
            #expect(second.message.channelID == new.channelID && second.message.expiration == 0)
            #expect(try second.timestamp > first.timestamp)
            #expect(second.lane == first.lane)
        }
    }

    @Test func `waiting messages go to the new channel in order, with its expiration`() async throws {
        try await withStores { stores in
            try await stores.open()
            let alert = try await stores.accept(.update(#"{"n":1}"#, alert: "{}"))
            let update = try await stores.accept(.update(#"{"n":2}"#))
            #expect(try await stores.delivery(of: alert).apnsExpiration > 0)
            _ = try await change(stores, to: unstored)
            #expect(try await stores.state(of: alert) == .waiting)
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.deliveriesNeverDue() == 0)
            try await provision(stores)
            let channelID = try await stores.channel().channelID
            for broadcast in [alert, update] {
                #expect(try await stores.delivery(of: broadcast).apnsExpiration == 0)
                let sent = try await stores.sendOne()
                #expect(sent.message.channelID == channelID && sent.message.expiration == 0)
                #expect(try await stores.state(of: broadcast) == .accepted)
            }
        }
    }

    @Test func `a waiting message gets an expiration from a new storing policy, unless apnsExpiration was given`()
        async throws
    {
        try await withStores { stores in
            try await stores.open(audiences: [unstored.get()])
            var once = BroadcastRequest.update(alert: "{}")
            once.apnsExpiration = 0
            try await stores.accept(once)
            let update = try await stores.accept(.update(expiresIn: 600))
            _ = try await change(stores, to: stored)
            try await provision(stores)
            #expect(try await stores.sendOne().message.expiration == 0)
            let until = Int(update.acceptedAt.timeIntervalSince1970) + 600
            #expect(try await stores.sendOne().message.expiration == until)
        }
    }

    @Test func `an attempt that may have reached the old channel is sent to the new one as another message`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update())
            let first = try #require(try await stores.claim().first)
            _ = try await change(stores, to: unstored)
            try await provision(stores)
            #expect(try await stores.claim().isEmpty)
            try await stores.settle(first, .retry(at: stores.now, reason: "ServiceUnavailable"))
            let second = try await stores.sendOne()
            #expect(second.message.channelID == (try await stores.channel().channelID))
            #expect(second.id == first.id && second.message.requestID != first.message.requestID)
            #expect(try second.timestamp > first.timestamp)
        }
    }

    @Test func `a change that is undone before the channel retired keeps the channel`() async throws {
        try await withStores { stores in
            try await stores.open()
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

    @Test func `an audience removed between two policies gets its channel back`() async throws {
        try await withStores { stores in
            let kept = try Audience.sample("com.example.Kept")
            try await stores.open(audiences: [stored.get(), kept])
            let channel = try await stores.channel()
            for audiences in [[try unstored.get(), kept], [kept], [try stored.get(), kept]] {
                stores.clock.advance(by: 1)
                try await stores.put(.sample(audiences: audiences))
            }
            try await provision(stores)
            #expect(try await stores.channel().id == channel.id)
            try await stores.accept(.update(audiences: [try stored.get().id]))
            #expect(try await stores.sendOne().message.channelID == channel.channelID)
        }
    }

    @Test func `a superseded message that is sent after all has the expiration of the new policy`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update(#"{"n":1}"#))
            let newer = try await stores.accept(.update(#"{"n":2}"#))
            _ = try await change(stores, to: unstored)
            try await provision(stores)
            #expect(try await stores.outbox.cancel(newer.id, now: stores.now) == true)
            let sent = try await stores.sendOne()
            #expect(sent.text.contains(#"{"n":1}"#) && sent.message.expiration == 0)
        }
    }

    @Test func `a change of the policy warns with the number of followers that are lost`() async throws {
        try await withStores { stores in
            let kept = try Audience.sample("com.example.Kept")
            try await stores.put(.sample(audiences: [stored.get(), kept]))
            // Nobody can follow a channel that was not created yet.
            #expect(try await stores.put(.sample(audiences: [unstored.get(), kept])).warnings == [])
            try await stores.provision()
            let lost = try #require(
                try await stores.events.event(.sample(), now: stores.now)?.channels.first?.channelID)
            let warnings = try #require(try await stores.put(.sample(audiences: [stored.get(), kept])).warnings)
            #expect(warnings.count == 1)
            #expect(
                warnings.first?.hasPrefix(
                    "The storage policy of com.example.Goal in production is now mostRecentMessageStored, so its channel "
                        + "\(lost) is replaced.") == true)
            #expect(try await stores.put(.sample(audiences: [stored.get(), kept])).warnings == [])
        }
    }

    @Test func `the audit log shows the app which audience gets another channel`() async throws {
        try await withStores { stores in
            let kept = try Audience.sample("com.example.Kept")
            try await stores.open(audiences: [stored.get(), kept])
            stores.clock.advance(by: 1)
            try await stores.put(.sample(audiences: [unstored.get(), kept]))
            let rows = try await stores.pool.query(
                "select bundle_id, reason from audit_log where action = 'event.changed' order by bundle_id")
            #expect(
                try rows.map { try $0.decode(String.self, "bundle_id") } == ["com.example.Goal", "com.example.Kept"])
            let reasons = try rows.map { try $0.decode(String?.self, "reason") }
            #expect(reasons[0]?.contains("production gets another channel") ?? false)
            #expect(reasons[0]?.contains("noMessageStored") ?? false)
            #expect(reasons[1] == nil)
        }
    }
}

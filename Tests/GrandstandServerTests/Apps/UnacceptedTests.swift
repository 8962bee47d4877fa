internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// What the database knows of apps of which APNs accepts nothing, and of missing keys.
@Suite(.timeLimit(.minutes(20)))
struct UnacceptedTests {
    @Test func `while all fails, newer states replace older ones and the time since the first failure grows`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let app = try AppEnvironment.sample()
            let began = stores.now
            for _ in 0..<5 {
                try await stores.accept(.update())
                try await stores.apps.noteReports([(app, nil, stores.now)], now: stores.now)
                #expect(try await stores.quota().alarm == nil)
                stores.clock.advance(by: 2)
            }
            #expect(try await stores.quota().unacceptedSince == began)
            #expect(try await stores.quotas().map(\.alarm) == [nil, .nothingAccepted])
            // Another replica's message is accepted, and the next one fails.
            try await stores.apps.noteReports([(app, stores.now, began)], now: stores.now)
            #expect(try await stores.quota().unacceptedSince == stores.now)
        }
    }

    @Test func `a message that is due and not sent counts, until one is accepted and nothing waits`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update())
            for alarm in [nil, nil, Contract.QuotaAlarm.nothingAccepted] {
                try await stores.apps.noteReports([], now: stores.now)
                #expect(try await stores.quota().alarm == alarm)
                stores.clock.advance(by: 9)
            }
            let delivery = try #require(try await stores.claim().first)
            try await stores.settle(delivery, .accepted(APNsReceipt(requestID: nil)))
            try await stores.apps.noteReports([(.sample(), stores.now, nil)], now: stores.now)
            #expect(try await stores.quota().unacceptedSince == nil)
        }
    }

    @Test(arguments: [
        ("Forbidden", Contract.QuotaAlarm.nothingAccepted as Contract.QuotaAlarm?), ("CannotCreateChannelConfig", nil),
    ])
    func `a message counts that waits for a channel that Apple does not create, unless it waits for a free place`(
        reason: String, alarm: Contract.QuotaAlarm?
    ) async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            try await stores.accept(.update())
            try await stores.align()
            try await stores.refuse(try #require(try await stores.claimChannels().first), reason, for: 60)
            for _ in 0..<3 {
                stores.clock.advance(by: 9)
                try await stores.apps.noteReports([], now: stores.now)
            }
            #expect(try await stores.quota().isNothingAccepted == (alarm != nil))
        }
    }

    @Test func `a crowd's message that is due counts, and so do failing pushes beside broadcasts that are rare`()
        async throws
    {
        try await withCrowds { world in
            try await world.reach(by: .tokens)
            try await world.show("aa01")
            try await world.stores.accept(.update())
            world.stores.clock.advance(by: 5)
            try await world.stores.apps.noteReports([], now: world.now)
            #expect(try await world.stores.quota().unacceptedSince == world.now - 2)
            let (app, accepted) = (try AppEnvironment.sample(), world.now - 1)
            try await world.stores.apps.noteReports([(app, accepted, nil), (app, nil, world.now - 3)], now: world.now)
            #expect(try await world.stores.quota().unacceptedSince == accepted)
        }
    }

    @Test func `a minute after the last failure, and ten seconds after a key was last missing, the alarms end`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let app = try AppEnvironment.sample()
            #expect(try await stores.apps.signers()[app] == Sample.credentials)
            try await stores.apps.noteReports([(app, nil, stores.now)], now: stores.now)
            stores.clock.advance(by: 55)
            try await stores.apps.noteReports([], lacking: [app], now: stores.now)
            #expect(try await stores.quota().alarms == [.keyMissing, .nothingAccepted])
            stores.clock.advance(by: 5)
            #expect(try await stores.quota().alarms == [.keyMissing])
            try await stores.apps.noteReports([(app, nil, stores.now)], now: stores.now)
            stores.clock.advance(by: 5)
            #expect(try await stores.quota().alarms == [])
        }
    }
}

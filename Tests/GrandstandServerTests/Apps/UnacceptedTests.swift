internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
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
                try await stores.apps.note([(app, nil, stores.now)], now: stores.now)
                #expect(try await stores.quota().alarm == nil)
                stores.clock.advance(by: 2)
            }
            #expect(try await stores.quota().unacceptedSince == began)
            #expect(try await stores.quotas().map(\.alarm) == [nil, .nothingAccepted])
            // Another replica's message is accepted, and the next one fails.
            try await stores.apps.note([(app, stores.now, began)], now: stores.now)
            #expect(try await stores.quota().unacceptedSince == stores.now)
        }
    }

    @Test func `a message that is due and not sent counts, until one is accepted and nothing waits`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update())
            for alarm in [nil, nil, Quota.Alarm.nothingAccepted] {
                try await stores.apps.note([], now: stores.now)
                #expect(try await stores.quota().alarm == alarm)
                stores.clock.advance(by: 9)
            }
            let delivery = try #require(try await stores.claim().first)
            try await stores.settle(delivery, .accepted(APNsReceipt(requestID: nil)))
            try await stores.apps.note([(.sample(), stores.now, nil)], now: stores.now)
            #expect(try await stores.quota().unacceptedSince == nil)
        }
    }

    @Test func `a minute after the last failure, and ten seconds after a key was last missing, the alarms end`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let app = try AppEnvironment.sample()
            #expect(try await stores.apps.signers()[app] == App.sample().credentials(in: .production))
            try await stores.apps.note([(app, nil, stores.now)], now: stores.now)
            stores.clock.advance(by: 55)
            try await stores.apps.note([], lacking: [app], now: stores.now)
            #expect(try await stores.quota().alarms == [.keyMissing, .nothingAccepted])
            stores.clock.advance(by: 5)
            #expect(try await stores.quota().alarms == [.keyMissing])
            try await stores.apps.note([(app, nil, stores.now)], now: stores.now)
            stores.clock.advance(by: 5)
            #expect(try await stores.quota().alarms == [])
        }
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct QuirkTests {
    private static let off = "BroadcastFeatureNotEnabled"

    private func capability(
        _ value: Contract.QuirkValue, _ stores: StoreWorld, evidence: String = "seen"
    ) async throws {
        try await stores.apps.remember(
            Contract.Quirk(
                environment: .production, quirk: .broadcastFeature, value: value, learnedAt: stores.now,
                evidence: evidence), for: .sample())
    }

    /// Records that the creation of every waiting channel was refused because the capability is off. The next attempt
    /// is in a minute.
    private func refuse(_ stores: StoreWorld) async throws {
        try await stores.align()
        for task in try await stores.claimChannels() { try await stores.refuse(task, Self.off, for: 60) }
    }

    @Test func `a quirk is for all replicas and keeps its first evidence until the value changes`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            try await capability(.off, stores, evidence: "first")
            let learned = stores.now
            stores.clock.advance(by: 1)
            try await capability(.off, stores, evidence: "second")
            let quirk = Contract.Quirk(
                environment: .production, quirk: .broadcastFeature, value: .off, learnedAt: learned, evidence: "first")
            #expect(try await stores.apps.registered(.sample()).quirks == [quirk])
            #expect(try await stores.channels.address(of: .sample())?.isCapabilityOff == true)
            #expect(
                try await stores.channels.address(of: .sample("com.example.Goal", .development))?.isCapabilityOff
                    == false)
            let path = Contract.Quirk(
                environment: .production, quirk: .managementPath, value: .lowercased, learnedAt: learned,
                evidence: "seen")
            try await stores.apps.remember(path, for: .sample())
            #expect(try await stores.channels.address(of: .sample())?.managementPath == .lowercased)
            let quotas = try await stores.quotas()
            #expect(quotas.filter { $0.alarm == .capabilityOff }.map(\.environment) == [.production])

            try await capability(.on, stores)
            #expect(try await stores.apps.registered(.sample()).quirks == [path])
            #expect(try await stores.audited(AuditFilter(action: .quirkLearned)).count == 3)
        }
    }

    @Test func `a refused creation stops no other, and when the capability is on all waiting ones are due`()
        async throws
    {
        try await withStores { stores in
            for n in 1...4 { try await stores.put(.sample(), as: "match-\(n)") }
            try await capability(.off, stores)
            try await refuse(stores)
            try await stores.put(.sample(), as: "match-5")
            try await stores.align()
            #expect(try await stores.claimChannels().map(\.channel.eventKey?.rawValue) == ["match-5"])
            #expect(try await stores.channel(of: "match-1").reason == Self.off)

            stores.clock.advance(by: 1)
            try await capability(.on, stores)
            try await stores.align()
            #expect(try await stores.claimChannels().count == 4)
        }
    }

    @Test func `when a reconciliation recreates, all waiting creations are due`() async throws {
        try await withStores { stores in
            let task = try await stores.beginCreation()
            try await stores.refuse(task, "TopicDisallowed", status: 403, for: 300)
            try await stores.finish(try await stores.beginReconciliation(), recreates: true)
            try await stores.align()
            #expect(try await stores.claimChannels().count == 1)
        }
    }
}

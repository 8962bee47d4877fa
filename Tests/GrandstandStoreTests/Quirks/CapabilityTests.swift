internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

/// What answers say of the Broadcast capability: one alarm, raised by the first refusal, ended by what proves it wrong.
struct CapabilityTests {
    private func note(_ stores: Stores, isOn: Bool, broadcast: Bool, calledAgo: TimeInterval = 0) async throws {
        try await stores.quirks.noteCapability(
            isOn: isOn, for: .sample(), evidence: isOn ? "accepted" : "refused", isBroadcast: broadcast,
            calledAt: stores.now.addingTimeInterval(-calledAgo), now: stores.now)
    }

    private func isOff(_ stores: Stores) async throws -> Bool {
        let quotas = try await stores.channels.quotas(now: stores.now, tenure: ChannelTenure())
        #expect(quotas.filter { $0.environment != .production }.allSatisfy { $0.alarm == nil })
        return quotas.contains { $0.environment == .production && $0.alarm == .capabilityOff }
    }

    @Test func `an accepted broadcast ends what any refusal raised, unless it began before`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            try await note(stores, isOn: true, broadcast: true)
            #expect(try await stores.quirks.quirks(of: .sample()).isEmpty)
            try await note(stores, isOn: false, broadcast: true)
            #expect(try await isOff(stores))
            stores.clock.advance(by: 1)
            try await note(stores, isOn: true, broadcast: true, calledAgo: 2)
            #expect(try await isOff(stores))
            try await note(stores, isOn: true, broadcast: true)
            #expect(try await !isOff(stores))
            let log = try await stores.auditLog.entries(where: AuditFilter(), PageRequest())
            #expect(log.items.count { $0.action == .quirkLearned } == 2)
        }
    }

    @Test func `a list ends what a list raised at once, and what a broadcast raised after five minutes`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            try await note(stores, isOn: false, broadcast: false)
            stores.clock.advance(by: 1)
            try await note(stores, isOn: true, broadcast: false)
            #expect(try await !isOff(stores))
            stores.clock.advance(by: 1)
            try await note(stores, isOn: false, broadcast: true)
            stores.clock.advance(by: 299)
            try await note(stores, isOn: true, broadcast: false)
            #expect(try await isOff(stores))
            // Further refusals do not put it off.
            try await note(stores, isOn: false, broadcast: true)
            stores.clock.advance(by: 1)
            try await note(stores, isOn: true, broadcast: false)
            #expect(try await !isOff(stores))
        }
    }

    @Test func `what an admin set stays`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let off = Quirk(
                environment: .production, name: .broadcastFeature, value: "off", learnedAt: stores.now, evidence: "set")
            try await stores.quirks.conclude(off, for: .sample(), by: .key(id: UUID(), name: "ops"))
            stores.clock.advance(by: 1_000)
            try await note(stores, isOn: true, broadcast: true)
            #expect(try await isOff(stores))
        }
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

@Suite(.timeLimit(.minutes(5)))
struct QuirkTests {
    private func lowercased(_ now: Date, until: Date?) -> Quirk {
        Quirk(
            environment: .production, name: .managementPath, value: "lowercased", learnedAt: now, evidence: "seen",
            believedUntil: until)
    }

    private func begin(_ stores: Stores, since: Date) async throws -> ExaminationStart {
        try await stores.quirks.beginExamination(
            of: .managementPath, for: .sample(), concludedSince: since, now: stores.now,
            leasedUntil: stores.now.addingTimeInterval(10))
    }

    @Test func `one examination at a time, over all replicas; its conclusion is everybody's`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let since = stores.now.addingTimeInterval(-60)
            let starts = try await withThrowingTaskGroup(of: ExaminationStart.self) { group in
                for _ in 1...8 { group.addTask { try await begin(stores, since: since) } }
                return try await group.reduce(into: [ExaminationStart]()) { $0.append($1) }
            }
            #expect(starts.count { $0 == .begun } == 1)
            #expect(starts.count { $0 == .underWay } == 7)
            // The other environment is examined on its own.
            let other = try await stores.quirks.beginExamination(
                of: .managementPath, for: .sample("com.example.goal", .development), concludedSince: since,
                now: stores.now, leasedUntil: stores.now)
            #expect(other == .begun)

            let quirk = lowercased(stores.now, until: stores.now.addingTimeInterval(Quirk.belief))
            try await stores.quirks.conclude(quirk, for: .sample(), by: .server)
            #expect(try await begin(stores, since: since) == .concluded("lowercased"))
            #expect(try await stores.quirks.quirks(of: .sample()) == [quirk])
            let learned = try await stores.auditLog.entries(where: AuditFilter(action: .quirkLearned), PageRequest())
            #expect(learned.items.count == 1)
        }
    }

    @Test func `an examiner that died makes way when its lease ends; one that found nothing, at once`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            #expect(try await begin(stores, since: stores.now) == .begun)
            #expect(try await begin(stores, since: stores.now) == .underWay)
            stores.clock.advance(by: 10)
            #expect(try await begin(stores, since: stores.now) == .begun)
            try await stores.quirks.abandonExamination(of: .managementPath, for: .sample())
            #expect(try await begin(stores, since: stores.now) == .begun)
            #expect(try await stores.quirks.quirks(of: .sample()).isEmpty)
        }
    }

    @Test func `a conclusion is examined again when it is old; one set by an admin never is`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            try await stores.quirks.conclude(
                lowercased(stores.now, until: stores.now.addingTimeInterval(Quirk.belief)), for: .sample(), by: .server)
            stores.clock.advance(by: Quirk.belief)
            #expect(try await begin(stores, since: stores.now.addingTimeInterval(-Quirk.belief)) == .begun)
            try await stores.quirks.conclude(
                lowercased(stores.now, until: nil), for: .sample(), by: .key(id: UUID(), name: "ops"))
            stores.clock.advance(by: 10 * Quirk.belief)
            #expect(try await begin(stores, since: stores.now) == .concluded("lowercased"))
            let address = try #require(try await stores.channels.address(of: .sample(), in: .production))
            #expect(address.managementPath == .lowercased)
            #expect(try #require(address.managementPathBelievedUntil) > stores.now)
        }
    }

    @Test func `while the capability is off one creation asks from time to time; when it is on all go at once`()
        async throws
    {
        try await withStores { stores in
            for n in 1...4 { try await stores.put(.sample("match-\(n)")) }
            try await stores.align()
            let first = try #require(try await stores.claimChannels(limit: 1).first)
            let refusal = APNsRecord(status: 400, reason: "BroadcastFeatureNotEnabled", requestID: "r-1")
            try await stores.record(
                .notCreated(state: .failed, nextAttemptAt: stores.now.addingTimeInterval(200)), of: first, refusal)
            let quirk = try #require(try await stores.quirks.quirks(of: .sample()).first)
            #expect(quirk.value == "off")
            #expect(quirk.evidence.contains("r-1"))
            try await stores.put(.sample("match-5"))
            try await stores.align()
            #expect(try await stores.claimChannels().isEmpty)
            #expect(try await stores.channel(of: "match-5").reason == "BroadcastFeatureNotEnabled")

            stores.clock.advance(by: 300)
            try await stores.align()
            let probes = try await stores.claimChannels()
            #expect(probes.count == 1)
            try await stores.align()
            #expect(try await stores.claimChannels().isEmpty)
            try await stores.record(.created(channelID: "it-works"), of: try #require(probes.first))
            try await stores.align()
            #expect(try await stores.claimChannels().count == 4)
            #expect(try await stores.quirks.quirks(of: .sample()).allSatisfy { !$0.isDeparture })
        }
    }
}

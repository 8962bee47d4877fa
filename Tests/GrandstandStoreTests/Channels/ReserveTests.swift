internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

struct ReserveTests {
    private func reserve(_ stores: Stores, _ bundleID: String = "com.example.Goal") async throws -> ChannelTask {
        try await stores.channels.reserve(
            ChannelDraft(
                bundleID: .sample(bundleID), environment: .production, storagePolicy: .noMessageStored, label: "by hand"
            ),
            now: stores.now, leasedUntil: stores.now.addingTimeInterval(10))
    }

    @Test func `40 concurrent reservations at a limit of 7 give exactly 7, and the others get the numbers in use`()
        async throws
    {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 7))
            let problems = try await withThrowingTaskGroup(of: Problem?.self) { group in
                for _ in 1...40 {
                    group.addTask {
                        do {
                            _ = try await reserve(stores)
                            return nil
                        } catch let problem as Problem {
                            return problem
                        }
                    }
                }
                return try await group.reduce(into: [Problem]()) { if let problem = $1 { $0.append(problem) } }
            }
            #expect(problems.count == 33)
            #expect(Set(problems.map(\.kind)) == [.quotaExhausted])
            #expect(problems.allSatisfy { $0.members == [.limit(7), .used(0), .reserved(7)] })
            #expect(try await stores.count("select count(*) as n from channels") == 7)
        }
    }

    @Test func `each environment has its own limit, and deleted and failed channels do not count`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample(channelLimit: 1))
            let task = try await reserve(stores)
            #expect(try await problem { try await reserve(stores) } == .quotaExhausted)
            _ = try await stores.channels.reserve(
                ChannelDraft(
                    bundleID: .sample(), environment: .development, storagePolicy: .noMessageStored, label: nil),
                now: stores.now, leasedUntil: stores.now)
            try await stores.record(.notCreated(state: .deleted, nextAttemptAt: nil), of: task)
            let second = try await reserve(stores)
            try await stores.record(.created(channelID: "a"), of: second)
            #expect(try await problem { try await reserve(stores) } == .quotaExhausted)
        }
    }

    @Test func `a reservation is a leased channel in creation with the app's address, whatever its case`()
        async throws
    {
        try await withStores { stores in
            let override = App.Override(teamID: nil, keyID: "KEYPROD123")
            _ = try await stores.apps.put(.sample(overrides: [.production: override]))
            let task = try await reserve(stores, "com.example.goal")
            #expect(task.channel.state == .creating)
            #expect(task.channel.attempts == 1)
            #expect(task.channel.label == "by hand")
            #expect(task.channel.bundleID == (try .sample()))
            #expect(task.address.bundleID == (try .sample()))
            #expect(task.address.credentials == Credentials(teamID: "TEAM123456", keyID: "KEYPROD123"))
            #expect(task.address.managementPath == .registered)
            #expect(try await stores.channels.channel(task.channel.id, of: .sample(), in: .production) == task.channel)
            #expect(try await stores.channels.channel(task.channel.id, of: .sample(), in: .development) == nil)
            let claimed = try await stores.claimChannels()
            #expect(claimed.isEmpty)
        }
    }

    @Test func `a reservation for an unknown app is refused`() async throws {
        try await withStores { stores in
            let kind = try await problem { try await reserve(stores) }
            #expect(kind == .appNotFound)
        }
    }

    @Test func `a learned quirk is part of the address`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let quirk = Quirk(
                environment: .production, name: .managementPath, value: "lowercased", learnedAt: stores.now,
                evidence: "seen")
            try await stores.quirks.remember(quirk, for: .sample(), by: .server)
            let address = try await stores.channels.address(of: .sample(), in: .production)
            #expect(address?.managementPath == .lowercased)
            #expect(address?.managementBundleID == "com.example.goal")
            #expect(try await stores.channels.address(of: .sample(), in: .development)?.managementPath == .registered)
            #expect(try await stores.channels.address(of: .sample("com.example.None"), in: .production) == nil)
        }
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// If two callers write at the same time, one is refused.
@Suite(.timeLimit(.minutes(20)))
struct VersionTests {
    private func version(_ stores: StoreWorld) async throws -> Int {
        try #require(try await stores.events.event(.sample(), now: stores.now)).version
    }

    /// How many of `count` concurrent writes were not refused as `version-mismatch`.
    private func winners(_ count: Int, _ write: @escaping @Sendable (Int) async throws -> Void) async throws -> Int {
        try await concurrently(count) { number in
            do {
                try await write(number)
                return true
            } catch let problem as Problem where problem.kind == .versionMismatch { return false }
        }.count { $0 }
    }

    @Test func `of many concurrent writers of an event one succeeds, and one based on an old version does not`()
        async throws
    {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            @Sendable func put(_ key: String = "match-1", kind: String? = nil, if condition: WriteCondition)
                async throws
            {
                _ = try await stores.events.put(
                    .sample(kind: kind), as: key, within: .all, by: .server, if: condition, now: stores.now)
            }
            #expect(try await winners(6) { try await put(kind: "\($0)", if: .absent) } == 1)
            let first = try await version(stores)
            #expect(try await winners(6) { try await put(kind: "x\($0)", if: .versions([first])) } == 1)
            let second = try await version(stores)
            #expect(second != first)
            try await put(if: .present)
            for condition in [WriteCondition.present, .versions([second])] {
                try await refuses(.versionMismatch) { try await put("other", if: condition) }
            }
            #expect(try await stores.event("other") == nil)
        }
    }

    @Test func `changes by time and Apple do not change an event's version, changed audiences do`() async throws {
        try await withStores { stores in
            try await stores.put(.sample())
            let version = try await self.version(stores)
            try await stores.provision()
            try await stores.accept(.update())
            try await stores.sendOne()
            let live = try #require(try await stores.event())
            #expect(live.state == .live)
            #expect(try await self.version(stores) == version)
            let development = try Audience.sample("com.example.Goal", .development)
            try await stores.put(.sample(audiences: [.sample(), development]))
            #expect(try await self.version(stores) != version)
        }
    }

    @Test func `an app is registered once, its overrides are part of its version, and a new registration differs`()
        async throws
    {
        try await withStores { stores in
            let made = try await winners(6) { _ in
                _ = try await stores.apps.put(.sample(), by: .server, if: .absent)
            }
            #expect(made == 1)
            let first = try await stores.apps.existing(.sample())
            let override = Contract.Override(keyId: "KEY7654321")
            let (second, _) = try await stores.apps.put(
                .sample(environments: .init(production: override)), by: .server, if: .versions([first.version]))
            #expect(second.version != first.version)
            try await stores.apps.delete(.sample())
            try await stores.apps.put(.sample())
            #expect(try await stores.apps.existing(.sample()).version > second.version)
        }
    }
}

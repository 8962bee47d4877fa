internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandStore

@Suite(.timeLimit(.minutes(2)))
struct CachedKeyTests {
    private func cached(_ stores: Stores) async -> CachedKeyStore {
        let cached = CachedKeyStore(stores.keys, now: { stores.now })
        await cached.reload()
        return cached
    }

    @Test func `keys are checked without the database, until a reading finds one revoked`() async throws {
        try await withStores { stores in
            let (key, secret) = try await stores.keys.create(name: "k", scopes: [.lookup], bundleID: nil)
            let (_, other) = try await stores.keys.create(name: "o", scopes: [.admin], bundleID: nil)
            let cached = await cached(stores)
            #expect(cached.known(secret)?.id == key.id)
            #expect(cached.known(other)?.name == "o")
            // Another replica revokes the first key.
            #expect(try await stores.keys.revoke(key.id, by: .server, now: stores.now))
            await cached.reload()
            #expect(cached.known(secret) == nil)
            #expect(try await cached.authenticate(secret) == nil)
            #expect(cached.known(other)?.name == "o")
        }
    }

    @Test func `an outage of key readings is logged, and so is its end`() async throws {
        let lines = LogLines()
        try await withStores { stores in
            let cached = CachedKeyStore(
                stores.keys, outages: OutageLog("keys were not read", lines.logger), now: { stores.now })
            #expect(await cached.reload())
            #expect(lines.all == [])
            try await stores.pool.query("alter table api_keys rename to elsewhere")
            #expect(await !cached.reload())
            try await stores.pool.query("alter table elsewhere rename to api_keys")
            #expect(await cached.reload())
            #expect(lines.all == ["warning keys were not read; trying again", "notice over: keys were not read"])
        }
    }

    @Test func `a key revoked here is refused here at once`() async throws {
        try await withStores { stores in
            let (key, secret) = try await stores.keys.create(name: "k", scopes: [.lookup], bundleID: nil)
            let cached = await cached(stores)
            #expect(try await cached.revoke(key.id, by: .server, now: stores.now))
            #expect(cached.known(secret) == nil)
        }
    }

    @Test func `a new key is known as soon as it is used`() async throws {
        try await withStores { stores in
            let cached = await cached(stores)
            let (key, secret) = try await stores.keys.create(name: "k", scopes: [.lookup], bundleID: nil)
            #expect(cached.known(secret) == nil)
            #expect(try await cached.authenticate(secret)?.id == key.id)
            #expect(cached.known(secret)?.id == key.id)
        }
    }

    @Test
    func
        `while the database is down, keys are accepted for ten minutes, and an unknown key is not called wrong`()
        async throws
    {
        try await withStores { stores in
            let (key, secret) = try await stores.keys.create(name: "k", scopes: [.lookup], bundleID: nil)
            let cached = await cached(stores)
            await stores.pool.close()
            await cached.reload()
            stores.clock.advance(by: 600)
            #expect(try await cached.authenticate(secret)?.id == key.id)
            #expect(try await problem { try await cached.authenticate("gs_unknown") } == .storeUnavailable)
            stores.clock.advance(by: 1)
            #expect(cached.known(secret) == nil)
            #expect(try await problem { try await cached.authenticate(secret) } == .storeUnavailable)
        }
    }

    @Test func `cached keys count as confirmed only if no announced change is still unread`() async throws {
        try await withStores { stores in
            let (_, secret) = try await stores.keys.create(name: "k", scopes: [.lookup], bundleID: nil)
            let cached = await cached(stores)
            stores.clock.advance(by: 599)
            cached.confirmed(at: stores.now)
            stores.clock.advance(by: 599)
            #expect(cached.known(secret) != nil)
            cached.changed()
            cached.confirmed(at: stores.now)
            stores.clock.advance(by: 2)
            #expect(cached.known(secret) == nil)
        }
    }

    @Test func `many wrong keys do not block a valid one that is not in memory`() async throws {
        try await withStores { stores in
            let cached = await cached(stores)
            let (key, secret) = try await stores.keys.create(name: "k", scopes: [.lookup], bundleID: nil)
            let found = try await withThrowingTaskGroup(of: APIKey?.self) { group -> [APIKey] in
                for number in 1...2_000 { group.addTask { try await cached.authenticate("gs_\(number)") } }
                group.addTask { try await cached.authenticate(secret) }
                var found: [APIKey] = []
                for try await key in group { if let key { found.append(key) } }
                return found
            }
            #expect(found.map(\.id) == [key.id])
        }
    }
}

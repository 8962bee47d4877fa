internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

@Suite(.timeLimit(.minutes(20)))
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
            let found = try await concurrently(2_001) { number in
                try await cached.authenticate(number == 2_000 ? secret : "gs_\(number)")
            }.compactMap(\.self)
            #expect(found.map(\.id) == [key.id])
        }
    }
}

/// The console's sessions, and keys found by name.
@Suite(.timeLimit(.minutes(20)))
struct ConsoleSessionTests {
    private static func id(_ byte: UInt8) -> [UInt8] { Array(repeating: byte, count: 32) }

    @Test func `a session is found until it is ended, and the next sign-in removes old ones`() async throws {
        try await withStores { stores in
            let sessions = PostgresConsoleSessionStore(Database(stores.pool))
            let (key, _) = try await stores.keys.create(name: "k", scopes: [.operate], bundleID: nil)
            func begin(_ byte: UInt8, _ at: Date) async throws {
                try await sessions.begin(
                    ConsoleSession(id: Self.id(byte), key: key.id, startedAt: at, usedAt: at))
            }
            try await begin(1, stores.now)
            #expect(try await sessions.session(Self.id(1))?.key == key.id)
            #expect(try await sessions.session(Self.id(9)) == nil)
            let later = stores.now + 60
            try await sessions.used(Self.id(1), at: later)
            try await sessions.used(Self.id(1), at: stores.now)
            #expect(try await sessions.session(Self.id(1))?.usedAt == later)
            try await begin(2, stores.now + 60 + ConsoleSession.idleTime)
            #expect(try await sessions.session(Self.id(1)) != nil)
            try await begin(3, stores.now + 61 + ConsoleSession.idleTime)
            #expect(try await sessions.session(Self.id(1)) == nil)
            try await sessions.end(Self.id(2))
            #expect(try await sessions.session(Self.id(2)) == nil)
            #expect(try await sessions.session(Self.id(3)) != nil)
        }
    }

    @Test func `a key is valid by its ID until its revocation here or elsewhere is known`() async throws {
        try await withStores { stores in
            let cached = CachedKeyStore(stores.keys, now: { stores.now })
            let (early, _) = try await stores.keys.create(name: "early", scopes: [.lookup], bundleID: nil)
            await cached.reload()
            let (late, _) = try await stores.keys.create(name: "late", scopes: [.lookup], bundleID: nil)
            #expect(try await cached.validKey(early.id)?.name == "early")
            #expect(try await cached.validKey(late.id)?.name == "late")
            #expect(try await cached.validKey(UUID()) == nil)
            _ = try await cached.revoke(early.id, by: .server, now: stores.now)
            #expect(try await cached.validKey(early.id) == nil)
            _ = try await stores.keys.revoke(late.id, by: .server, now: stores.now)
            await cached.reload()
            #expect(try await cached.validKey(late.id) == nil)
            let draft = KeyDraft(name: "brief", scopes: [.lookup], expiresAt: stores.now + 10)
            let brief = try await cached.create(draft, by: .server, now: stores.now).key
            await cached.reload()
            #expect(try await cached.validKey(brief.id) != nil)
            stores.clock.advance(by: 11)
            #expect(try await cached.validKey(brief.id) == nil)
        }
    }
}

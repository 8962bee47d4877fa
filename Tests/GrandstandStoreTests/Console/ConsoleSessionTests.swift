internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// The console's sessions, and keys found by name.
@Suite(.timeLimit(.minutes(2)))
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
            let later = stores.now.addingTimeInterval(60)
            try await sessions.used(Self.id(1), at: later)
            try await sessions.used(Self.id(1), at: stores.now)
            #expect(try await sessions.session(Self.id(1))?.usedAt == later)
            try await begin(2, stores.now.addingTimeInterval(60 + ConsoleSession.idleTime))
            #expect(try await sessions.session(Self.id(1)) != nil)
            try await begin(3, stores.now.addingTimeInterval(61 + ConsoleSession.idleTime))
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
            let issued = try await cached.create(
                KeyDraft(name: "brief", scopes: [.lookup], expiresAt: stores.now.addingTimeInterval(10)), by: .server,
                now: stores.now)
            await cached.reload()
            #expect(try await cached.validKey(issued.key.id) != nil)
            stores.clock.advance(by: 11)
            #expect(try await cached.validKey(issued.key.id) == nil)
        }
    }
}

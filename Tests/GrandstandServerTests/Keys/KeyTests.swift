internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

struct KeyTests {
    @Test func `a key works until it is revoked, and is revoked once`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let (key, secret) = try await stores.keys.create(
                name: "organiser", scopes: [.organise, .lookup], bundleID: .sample())
            let found = try #require(try await stores.keys.reading(secret))
            #expect(found.id == key.id && found.name == "organiser" && found.scopes == [.organise, .lookup])
            #expect(try found.reach == .only([.sample()]))
            for wrong in [secret + "x", ""] { #expect(try await stores.keys.reading(wrong) == nil) }
            for (id, isRevoked) in [(key.id, true), (key.id, false), (UUID(), false)] {
                #expect(try await stores.keys.revoke(id, by: .commandLine) == isRevoked)
            }
            #expect(try await stores.keys.reading(secret) == nil)
            let listed = try await stores.keys.keys().map { ($0.revokedAt, $0.state, secret.hasPrefix($0.prefix)) }
            #expect(listed.count == 1 && listed[0] == (stores.now, .revoked, true))
        }
    }

    @Test func `only a hash of the secret is stored, and its first characters`() async throws {
        try await withStores { stores in
            let key = try await stores.create(.init(name: "k", scopes: [.admin]))
            let secret = try #require(key.secret)
            #expect(secret.count == 46)
            let rows = try await stores.pool.query("select row_to_json(k)::text as text, secret_hash from api_keys k")
            let row = try #require(rows.first)
            let text: String = try row.decode("text")
            #expect(!text.contains(secret))
            #expect(!text.contains(secret.dropFirst(key.prefix.count)))
            #expect(key.prefix.count < 12)
            let hash: [UInt8] = try row.decode("secret_hash")
            let computed = try await stores.pool.query("select sha256(convert_to(\(secret), 'UTF8')) as hash")
            #expect(try hash == #require(computed.first).decode([UInt8].self, "hash"))
        }
    }
}

extension KeyStore {
    /// The valid key with this secret, as a reading finds it.
    fileprivate func reading(_ secret: String) async throws -> APIKey? {
        try await Self.validKeys(on: database, at: now())[SecretHash(of: secret)]
    }
}

/// Creation, replacement and revocation of keys.
struct KeyLedgerTests {
    @Test func `an old secret works until the overlap or its own limit ends`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let now = stores.now
            func rotate(_ key: Contract.IssuedKey) async throws -> Contract.IssuedKey {
                try await stores.keys.rotate(
                    try #require(UUID(uuidString: key.id)), overlap: 7_200, by: .commandLine)
            }
            func authenticate(_ key: Contract.IssuedKey) async throws -> APIKey? {
                try await stores.keys.reading(try #require(key.secret))
            }
            let old = try await stores.create(
                .init(name: "k", scopes: [.organise, .lookup], bundleId: "com.example.Goal"))
            let new = try await rotate(old)
            #expect(new.name == "k" && new.scopes == [.lookup, .organise] && new.secret != old.secret)
            #expect(new.bundleIds == ["com.example.Goal"] && new.bundleId == "com.example.Goal")
            #expect(try await authenticate(old)?.replacedBy?.text == new.id)
            #expect(try await authenticate(new)?.id.text == new.id)
            // A key that was replaced cannot be replaced again, because it would have two successors.
            try await refuses(.keyNotFound) { try await rotate(old) }
            let limited = try await stores.create(.init(name: "l", scopes: [.lookup], expiresAt: now + 3_600))
            #expect(try await rotate(limited).expiresAt == now + 3_600)
            #expect(try await stores.keys.keys().first { $0.id == limited.id }?.expiresAt == now + 3_600)
            stores.clock.advance(by: 7_200)
            #expect(try await authenticate(old) == nil)
            #expect(try await authenticate(new) != nil)
        }
    }

    @Test func `a key of two apps is listed for keys with both, and keeps one app when the other is deleted`()
        async throws
    {
        try await withStores { stores in
            let (a, b) = (try BundleID.sample("com.example.A"), try BundleID.sample("com.example.B"))
            for app in [a, b] { _ = try await stores.apps.put(.sample(app.rawValue)) }
            let issued = try await stores.create(
                .init(name: "pair", scopes: [.organise], bundleIds: ["com.example.B", "COM.example.a"]))
            let secret = try #require(issued.secret)
            #expect(issued.bundleIds == ["com.example.A", "com.example.B"] && issued.bundleId == nil)
            #expect(try await stores.keys.reading(secret)?.reach == .only([a, b]))
            for (reach, count) in [(AppReach.only([a]), 0), (.only([b]), 0), (.only([a, b]), 1), (.all, 1)] {
                let page = try await stores.keys.keys(within: reach, PageRequest())
                #expect(page.items.count == count, "\(reach)")
            }
            try await stores.apps.delete(a)
            #expect(try await stores.keys.reading(secret)?.reach == .only([b]))
            try await stores.apps.delete(b)
            #expect(try await stores.keys.reading(secret) == nil)
        }
    }

    @Test func `last uses are written together, and older ones change nothing`() async throws {
        try await withStores { stores in
            let (keys, start) = (stores.keys, stores.now)
            let (one, _) = try await stores.key("one", [.lookup])
            let (other, _) = try await stores.key("other", [.lookup])
            stores.clock.advance(by: 10)
            keys.noteUse(one)
            try await keys.writeUses()
            keys.lastUses.withLock { $0 = [one.id: start + 5, UUID(): start] }
            try await keys.writeUses()
            #expect(try await keys.key(one.id).lastUsedAt == start + 10)
            stores.clock.advance(by: 10)
            for key in [one, other] { keys.noteUse(key) }
            try await keys.writeUses()
            for key in [one, other] { #expect(try await keys.key(key.id).lastUsedAt == start + 20) }
        }
    }
}

@Suite(.timeLimit(.minutes(20)))
struct CachedKeyTests {
    @Test
    func
        `while the database is down, keys are accepted for ten minutes, and an unknown key is not called wrong`()
        async throws
    {
        try await withStores { stores in
            let (key, secret) = try await stores.key("k", [.lookup])
            let keys = stores.keys
            try await keys.reload()
            await stores.pool.close()
            try await refuses(.storeUnavailable) { try await keys.reload() }
            stores.clock.advance(by: 600)
            #expect(try await keys.authenticate(secret)?.id == key.id)
            try await refuses(.storeUnavailable) { try await keys.authenticate("gs_unknown") }
            stores.clock.advance(by: 1)
            #expect(keys.known(secret) == nil)
            try await refuses(.storeUnavailable) { try await keys.authenticate(secret) }
        }
    }

    @Test func `many wrong keys do not block a new one`() async throws {
        try await withStores { stores in
            let keys = stores.keys
            try await keys.reload()
            let (key, secret) = try await stores.key("k", [.lookup])
            #expect(keys.known(secret) == nil)
            let found = try await concurrently(2_001) { number in
                try await keys.authenticate(number == 2_000 ? secret : "gs_\(number)")
            }.compactMap(\.self)
            #expect(found.map(\.id) == [key.id])
            #expect(keys.known(secret)?.id == key.id)
        }
    }
}

/// Keys found by ID and by name.
@Suite(.timeLimit(.minutes(20)))
struct ConsoleSessionTests {
    @Test func `a key is valid by its ID until its revocation here or elsewhere is known`() async throws {
        try await withStores { stores in
            let cached = KeyStore(database: stores.keys.database, now: { stores.now })
            let (early, _) = try await stores.key("early", [.lookup])
            let issued = try await stores.create(
                .init(name: "brief", scopes: [.lookup], expiresAt: stores.now + 10))
            let brief = try #require(UUID(uuidString: issued.id))
            try await cached.reload()
            let (late, _) = try await stores.key("late", [.lookup])
            for (id, name) in [(early.id, "early"), (late.id, "late"), (brief, "brief")] {
                #expect(try await cached.validKey(id)?.name == name)
            }
            #expect(try await cached.validKey(UUID()) == nil)
            try await cached.revoke(early.id, by: early.actor)
            #expect(try await cached.validKey(early.id) == nil)
            try await stores.keys.revoke(late.id, by: .server)
            try await cached.reload()
            stores.clock.advance(by: 11)
            for id in [late.id, brief] { #expect(try await cached.validKey(id) == nil) }
        }
    }
}

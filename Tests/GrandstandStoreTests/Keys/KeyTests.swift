internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

struct KeyTests {
    @Test func `a key works until it is revoked, and is revoked once`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let (key, secret) = try await stores.keys.create(
                name: "organiser", scopes: [.organise, .lookup], bundleID: .sample())
            let found = try #require(try await stores.keys.authenticate(secret))
            #expect(found.id == key.id && found.name == "organiser" && found.scopes == [.organise, .lookup])
            #expect(found.reach == .only([try .sample()]))
            #expect(secret.hasPrefix(found.prefix))
            #expect(try await stores.keys.authenticate(secret + "x") == nil)
            #expect(try await stores.keys.authenticate("") == nil)
            #expect(try await stores.keys.revoke(key.id, now: stores.now))
            #expect(try await stores.keys.authenticate(secret) == nil)
            #expect(try await stores.keys.revoke(key.id, now: stores.now) == false)
            #expect(try await stores.keys.revoke(UUID(), now: stores.now) == false)
            #expect(try await stores.keys.keys().map(\.revokedAt) == [stores.now])
        }
    }

    @Test func `only a hash of the secret is stored, and its first characters`() async throws {
        try await withStores { stores in
            let (key, secret) = try await stores.keys.create(name: "k", scopes: [.admin], bundleID: nil)
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

/// Creation, replacement and revocation of keys.
struct KeyLedgerTests {
    @Test func `a key works until it expires by the database's clock`() async throws {
        try await withStores { stores in
            let now = Date()
            let draft = KeyDraft(name: "k", scopes: [.lookup], expiresAt: now + 3_600)
            let issued = try await stores.keys.create(draft, by: .commandLine, now: now)
            #expect(try await stores.keys.authenticate(issued.secret)?.expiresAt != nil)
            try await stores.pool.query("update api_keys set expires_at = now() - interval '1 second'")
            #expect(try await stores.keys.authenticate(issued.secret) == nil)
            let listing = try #require(try await stores.keys.key(issued.key.id))
            #expect(listing.key.state(at: Date()) == .expired)
        }
    }

    @Test func `after a rotation both secrets work until the overlap ends, and then only the new one`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let draft = KeyDraft(name: "k", scopes: [.organise, .lookup], reach: .only([try .sample()]))
            let old = try await stores.keys.create(draft, by: .commandLine, now: Date())
            let rotated = try await stores.keys.rotate(
                old.key.id, overlapEnds: Date() + 3_600, by: .commandLine, now: Date())
            let new = try #require(rotated)
            #expect(new.key.name == "k" && new.key.scopes == old.key.scopes && new.secret != old.secret)
            #expect(new.key.reach == .only([try .sample()]))
            #expect(try await stores.keys.authenticate(old.secret)?.replacedBy == new.key.id)
            #expect(try await stores.keys.authenticate(new.secret)?.id == new.key.id)
            // A key that was replaced cannot be replaced again, because it would have two successors.
            let again = try await stores.keys.rotate(
                old.key.id, overlapEnds: Date() + 3_600, by: .commandLine, now: Date())
            #expect(again == nil)
            try await stores.pool.query(
                "update api_keys set expires_at = now() - interval '1 second' where id = \(old.key.id)")
            #expect(try await stores.keys.authenticate(old.secret) == nil)
            #expect(try await stores.keys.authenticate(new.secret) != nil)
        }
    }

    @Test func `a rotation does not extend a limited key`() async throws {
        try await withStores { stores in
            let expiresAt = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + 3_600)
            let draft = KeyDraft(name: "k", scopes: [.lookup], expiresAt: expiresAt)
            let old = try await stores.keys.create(draft, by: .commandLine, now: Date())
            let new = try #require(
                try await stores.keys.rotate(old.key.id, overlapEnds: Date() + 7_200, by: .commandLine, now: Date()))
            #expect(new.key.expiresAt == expiresAt)
            #expect(try await stores.keys.key(old.key.id)?.key.expiresAt == expiresAt)
        }
    }

    @Test func `pages contain every key once, the newest first, and can be limited to one app`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let own = try BundleID.sample()
            for n in 0..<5 {
                let reach = n == 2 ? AppReach.only([own]) : .all
                let draft = KeyDraft(name: "\(n)", scopes: [.lookup], reach: reach)
                _ = try await stores.keys.create(draft, by: .commandLine, now: stores.now + Double(n))
            }
            var names: [String] = []
            var request = PageRequest(limit: 2)
            repeat {
                let page = try await stores.keys.keys(within: .all, request)
                names += page.items.map(\.key.name)
                request.cursor = page.nextCursor
            } while request.cursor != nil
            #expect(names == ["4", "3", "2", "1", "0"])
            let owned = try await stores.keys.keys(within: .only([.sample("com.example.GOAL")]), PageRequest())
            #expect(owned.items.map(\.key.name) == ["2"])
        }
    }

    @Test func `a key of two apps is listed for keys with both, and keeps one app when the other is deleted`()
        async throws
    {
        try await withStores { stores in
            let (a, b) = (try BundleID.sample("com.example.A"), try BundleID.sample("com.example.B"))
            for app in [a, b] { _ = try await stores.apps.put(.sample(app.rawValue)) }
            let draft = KeyDraft(
                name: "pair", scopes: [.organise],
                reach: .only([try .sample("com.example.B"), try .sample("COM.example.a")]))
            let issued = try await stores.keys.create(draft, by: .commandLine, now: stores.now)
            #expect(issued.key.reach == .only([a, b]))
            #expect(try await stores.keys.authenticate(issued.secret)?.reach == .only([a, b]))
            for (reach, count) in [(AppReach.only([a]), 0), (.only([b]), 0), (.only([a, b]), 1), (.all, 1)] {
                #expect(try await stores.keys.keys(within: reach, PageRequest()).items.count == count, "\(reach)")
            }
            try await stores.apps.delete(a)
            #expect(try await stores.keys.authenticate(issued.secret)?.reach == .only([b]))
            try await stores.apps.delete(b)
            #expect(try await stores.keys.authenticate(issued.secret) == nil)
        }
    }

    @Test func `an unknown app, or a second app for a device key, is refused`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample("com.example.A"))
            let reach = AppReach.only([try .sample("com.example.A"), try .sample("com.example.B")])
            let kind = try await problem {
                try await stores.keys.create(
                    KeyDraft(name: "k", scopes: [.organise], reach: reach), by: .commandLine, now: stores.now)
            }
            #expect(kind == .appNotFound)
            _ = try await stores.apps.put(.sample("com.example.B"))
            await #expect(throws: Problem.self) {
                try await stores.keys.create(
                    KeyDraft(name: "k", scopes: [.device], reach: reach), by: .commandLine, now: stores.now)
            }
            #expect(try await stores.keys.keys().isEmpty)
        }
    }

    @Test func `last uses are written together, older ones change nothing, and missing keys are skipped`()
        async throws
    {
        try await withStores { stores in
            let one = try await stores.keys.create(
                KeyDraft(name: "one", scopes: [.lookup]), by: .commandLine, now: stores.now)
            let other = try await stores.keys.create(
                KeyDraft(name: "other", scopes: [.lookup]), by: .commandLine, now: stores.now)
            try await stores.keys.used([one.key.id: stores.now + 10, UUID(): stores.now])
            try await stores.keys.used([one.key.id: stores.now + 5])
            #expect(try await stores.keys.key(one.key.id)?.lastUsedAt == stores.now + 10)
            #expect(try await stores.keys.key(other.key.id)?.lastUsedAt == nil)
        }
    }

    @Test func `hashes are compared over all their bytes, and stored unchanged`() throws {
        let hash = SecretHash(of: "secret")
        #expect(SecretHash(hash.bytes) == hash)
        for place in 0..<32 {
            var bytes = hash.bytes
            bytes[place] ^= 1
            #expect(try #require(SecretHash(bytes)) != hash)
        }
        #expect(SecretHash([]) == nil)
        #expect(SecretHash(hash.bytes + [0]) == nil)
    }
}

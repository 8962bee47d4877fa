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
            #expect(found.id == key.id)
            #expect(found.name == "organiser")
            #expect(found.scopes == [.organise, .lookup])
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

    @Test func `only a hash of the secret is stored, and its first characters`()
        async throws
    {
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

    @Test func `every secret is different`() async throws {
        try await withStores { stores in
            var secrets: Set<String> = []
            for n in 1...20 {
                secrets.insert(try await stores.keys.create(name: "\(n)", scopes: [.lookup], bundleID: nil).secret)
            }
            #expect(secrets.count == 20)
            #expect(try await stores.keys.keys().count == 20)
        }
    }

    @Test func `a key for an unknown app is refused`() async throws {
        try await withStores { stores in
            let kind = try await problem {
                try await stores.keys.create(name: "k", scopes: [.lookup], bundleID: .sample())
            }
            #expect(kind == .appNotFound)
            #expect(try await stores.keys.keys().isEmpty)
        }
    }
}

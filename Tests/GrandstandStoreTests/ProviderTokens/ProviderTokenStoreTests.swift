internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandStore
internal import GrandstandTestKit
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct ProviderTokenStoreTests {
    private static func key(_ fingerprint: UInt8 = 1) -> ProviderTokenKey {
        ProviderTokenKey(
            credentials: Credentials(teamID: "TEAM123456", keyID: "KEY1234567"),
            fingerprint: [UInt8](repeating: fingerprint, count: 32))
    }

    @Test func `of many tokens that replicas offer concurrently one is stored, and all replicas get it`() async throws {
        try await withStores { stores in
            for round in 1...5 {
                let issuedAt = 1_800_000_000 + round * 3_000
                let tokens = try await concurrently(8) { number in
                    let offer = SharedProviderToken(issuedAt: issuedAt, sealed: [UInt8(round), UInt8(number)])
                    return try await stores.providerTokens.agree(
                        on: offer, for: Self.key(), replacing: issuedAt - 3_000)
                }
                #expect(Set(tokens).count == 1 && tokens[0].issuedAt == issuedAt)
            }
        }
    }

    @Test func `a token is replaced only at the age limit, and never by another key file's`() async throws {
        try await withStores { stores in
            let (first, second) = (
                SharedProviderToken(issuedAt: 600, sealed: [1]), SharedProviderToken(issuedAt: 1_200, sealed: [2])
            )
            let store = stores.providerTokens
            var kept = [try await store.agree(on: first, for: Self.key(), replacing: 0)]
            kept.append(try await store.agree(on: second, for: Self.key(), replacing: 599))
            #expect(kept == [first, first])
            // Another key file under the same name.
            let other = try await store.agree(on: second, for: Self.key(2), replacing: 599)
            #expect(other == second)
            kept = [try await store.agree(on: second, for: Self.key(), replacing: 600)]
            kept.append(try await store.agree(on: first, for: Self.key(), replacing: 600))
            #expect(kept == [second, second])
        }
    }

    @Test func `a refused key is an alarm of its apps in the environment, until it is accepted`()
        async throws
    {
        try await withStores { stores in
            let app = try App.sample()
            try await stores.apps.put(app)
            let now = stores.now
            let (development, production) = (app.keyUse(in: .development), app.keyUse(in: .production))
            let store = stores.providerTokens
            let first = KeyRefusal(reason: .invalidProviderToken, since: now)
            try await store.note(first, of: production)
            // Another replica gets a refusal later, and with another reason.
            try await store.note(
                KeyRefusal(reason: .expiredProviderToken, since: now.addingTimeInterval(60)), of: production)
            let both = KeyRefusal(reason: .expiredProviderToken, since: now)
            #expect(try await store.refusals() == [production: both])
            var quotas = try await stores.channels.quotas(now: now, tenure: Stores.tenure)
            #expect(quotas.map(\.alarm) == [nil, .keyRefused])
            #expect(
                quotas.last?.keyRefused
                    == Quota.KeyRefused(credentials: app.credentials(in: .production), refusal: both))
            try await store.note(nil, of: development)
            #expect(try await store.refusals().count == 1)
            try await store.note(nil, of: production)
            quotas = try await stores.channels.quotas(now: now, tenure: Stores.tenure)
            #expect(quotas.map(\.alarm) == [nil, nil])
        }
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct KeyRefusalTests {
    @Test func `a refused key is an alarm of its apps in the environment, until it is accepted or replaced`()
        async throws
    {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let now = stores.now
            let development = UsedKey(credentials: Sample.credentials, environment: .development)
            let production = UsedKey(credentials: Sample.credentials, environment: .production)
            func alarms() async throws -> [Contract.QuotaAlarm?] { try await stores.quotas().map(\.alarm) }
            func refusals() async throws -> [String: Contract.CredentialRefusal] {
                try await stores.apps.registered(.sample()).credentialRefusals
            }

            try await stores.apps.note(KeyRefusal(reason: .invalidProviderToken, since: now), of: production)
            // Another replica gets a refusal later, and with another reason.
            try await stores.apps.note(
                KeyRefusal(reason: .expiredProviderToken, since: now.addingTimeInterval(60)), of: production)
            #expect(try await refusals() == ["production": .init(reason: "ExpiredProviderToken", since: now)])
            #expect(try await alarms() == [nil, .keyRefused])
            #expect(
                try await stores.quotas().last?.keyRefused
                    == Contract.KeyRefused(
                        teamId: "TEAM123456", keyId: "KEY1234567", reason: "ExpiredProviderToken", since: now))
            try await stores.apps.note(nil, of: development)
            #expect(try await alarms() == [nil, .keyRefused])

            // Another key signs for the app, and then the refused one again.
            try await stores.apps.put(.sample(environments: .init(production: .init(keyId: "OTHER67890"))))
            #expect(try await refusals() == [:])
            #expect(try await alarms() == [nil, nil])
            try await stores.apps.put(.sample())
            #expect(try await alarms() == [nil, .keyRefused])

            try await stores.apps.note(nil, of: production)
            #expect(try await refusals() == [:])
            #expect(try await alarms() == [nil, nil])
        }
    }
}

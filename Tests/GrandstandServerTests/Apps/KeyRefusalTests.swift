internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct KeyRefusalTests {
    @Test func `a refused key is an alarm of its apps in the environment, until it is accepted or replaced`()
        async throws
    {
        try await withStores { stores in
            var app = try await stores.apps.put(.sample()).app
            let now = stores.now
            let (development, production) = (app.keyUse(in: .development), app.keyUse(in: .production))
            func alarms() async throws -> [Quota.Alarm?] { try await stores.quotas().map(\.alarm) }
            func refusals() async throws -> [APNsEnvironment: KeyRefusal]? {
                try await stores.apps.app(.sample())?.keyRefusals
            }

            try await stores.apps.note(KeyRefusal(reason: .invalidProviderToken, since: now), of: production)
            // Another replica gets a refusal later, and with another reason.
            try await stores.apps.note(
                KeyRefusal(reason: .expiredProviderToken, since: now.addingTimeInterval(60)), of: production)
            let both = KeyRefusal(reason: .expiredProviderToken, since: now)
            #expect(try await refusals() == [.production: both])
            #expect(try await alarms() == [nil, .keyRefused])
            #expect(
                try await stores.quotas().last?.keyRefused
                    == Quota.KeyRefused(credentials: production.credentials, refusal: both))
            try await stores.apps.note(nil, of: development)
            #expect(try await alarms() == [nil, .keyRefused])

            // Another key signs for the app, and then the refused one again.
            let overrides = app.overrides
            app.overrides[.production] = App.Override(keyID: "OTHER67890")
            try await stores.apps.put(app)
            #expect(try await refusals() == [:])
            #expect(try await alarms() == [nil, nil])
            app.overrides = overrides
            try await stores.apps.put(app)
            #expect(try await alarms() == [nil, .keyRefused])

            try await stores.apps.note(nil, of: production)
            #expect(try await refusals() == [:])
            #expect(try await alarms() == [nil, nil])
        }
    }
}

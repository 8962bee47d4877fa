internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

struct AppTests {
    @Test func `put creates and then replaces, and overrides are added and removed`() async throws {
        try await withStores { stores in
            var app = try App.sample(
                channelLimit: 12,
                overrides: [
                    .production: .init(teamID: "TEAMPROD12", keyID: nil), .development: .init(keyID: "KEYDEVEL12"),
                ])
            let first = try await stores.apps.put(app)
            #expect(first.created)
            app.version = first.app.version
            #expect(first.app == app)
            stores.clock.advance(by: 1)
            app.name = "Renamed"
            app.overrides = [:]
            app.updatedAt = stores.now
            let second = try await stores.apps.put(app)
            #expect(!second.created)
            #expect(second.app.version > first.app.version)
            app.version = second.app.version
            #expect(second.app == app)
            #expect(try await stores.apps.app(.sample("COM.EXAMPLE.GOAL")) == app)
            #expect(try await stores.apps.app(.sample("com.example.None")) == nil)
        }
    }

    @Test func `an app's preview is stored, and removed by a put without one`() async throws {
        try await withStores { stores in
            var app = try App.sample()
            app.preview = AppPreview(compact: "{{home}} – {{away}}")
            #expect(try await stores.apps.put(app).app.preview == app.preview)
            #expect(try await stores.apps.apps(PageRequest()).items.map(\.preview) == [app.preview])
            app.preview = nil
            #expect(try await stores.apps.put(app).app.preview == nil)
        }
    }

    @Test func `two bundle IDs that differ in case only cannot both exist`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample("com.example.Goal"))
            let version = try await stores.apps.put(.sample("com.example.Goal")).app.version
            for condition in [WriteCondition.none, .absent, .present, .versions([version])] {
                let refused = await #expect(throws: Problem.self) {
                    try await stores.apps.put(.sample("com.example.goal"), by: .commandLine, if: condition)
                }
                #expect(refused?.kind == .appExists)
                #expect(refused?.detail.contains("registered as com.example.Goal.") == true)
            }
            #expect(try await stores.apps.apps(PageRequest()).items.map(\.bundleID.rawValue) == ["com.example.Goal"])
        }
    }

    @Test func `apps are paged by bundle ID`() async throws {
        try await withStores { stores in
            for name in ["c", "a", "b"] { _ = try await stores.apps.put(.sample("com.example.\(name)")) }
            let first = try await stores.apps.apps(PageRequest(limit: 2))
            #expect(first.items.map(\.bundleID.rawValue) == ["com.example.a", "com.example.b"])
            let second = try await stores.apps.apps(PageRequest(limit: 2, cursor: first.nextCursor))
            #expect(second.items.map(\.bundleID.rawValue) == ["com.example.c"])
            #expect(second.nextCursor == nil)
        }
    }

    @Test func `an app with channels cannot be deleted, and one without is deleted with all its data`()
        async throws
    {
        try await withStores { stores in
            let key = try await stores.open()
            _ = try await stores.keys.create(name: "k", scopes: [.lookup], bundleID: .sample())
            #expect(try await problem { try await stores.apps.delete(.sample()) } == .appInUse)
            try await stores.accept(.end())
            try await stores.sendOne()
            try await stores.align()
            #expect(try await problem { try await stores.apps.delete(.sample()) } == .appInUse)
            stores.clock.advance(by: 100_000)
            try await stores.provision()
            #expect(try await stores.channel().state == .deleted)

            try await stores.apps.delete(.sample("com.example.goal"))
            #expect(try await stores.apps.app(.sample()) == nil)
            #expect(try await stores.keys.keys().isEmpty)
            #expect(try await stores.events.event(key, now: stores.now)?.specification.audiences == [])
            #expect(try await problem { try await stores.apps.delete(.sample()) } == .appNotFound)
        }
    }
}

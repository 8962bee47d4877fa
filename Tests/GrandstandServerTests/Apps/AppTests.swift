internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

struct AppTests {
    @Test func `put creates and then replaces, and overrides are added and removed`() async throws {
        try await withStores { stores in
            var app = try AppSample.sample(
                channelLimit: 12,
                environments: .init(
                    development: .init(keyId: "KEYDEVEL12"), production: .init(teamId: "TEAMPROD12")))
            app.draft.preview = .init(compact: "{{home}} – {{away}}")
            var versions: [Int] = []
            for isNew in [true, false] {
                let (stored, created) = try await stores.apps.put(app)
                versions.append(stored.version)
                let (draft, value) = (app.draft, stored.value)
                #expect(created == isNew && value.updatedAt == app.date && value.createdAt == ManualClock().now)
                #expect(value.name == draft.name && value.channelLimit == 12 && value.preview == draft.preview)
                #expect(value.environments == draft.environments ?? .init())
                #expect(try await stores.apps.app(.sample("COM.EXAMPLE.GOAL"))?.value == value)
                app.date = stores.clock.advance(by: 1)
                (app.draft.name, app.draft.environments, app.draft.preview) = ("Renamed", nil, nil)
            }
            #expect(versions[1] > versions[0])
            #expect(try await stores.apps.app(.sample("com.example.None")) == nil)
        }
    }

    @Test func `two bundle IDs that differ in case only cannot both exist`() async throws {
        try await withStores { stores in
            let version = try await stores.apps.put(.sample("com.example.Goal")).app.version
            for condition in [WriteCondition.none, .absent, .present, .versions([version])] {
                let refused = await #expect(throws: Problem.self) {
                    try await stores.apps.put(.sample("com.example.goal"), by: .commandLine, if: condition)
                }
                #expect(refused?.kind == .appExists)
                #expect(refused?.detail.contains("registered as com.example.Goal.") == true)
            }
            #expect(try await stores.apps.apps(PageRequest()).items.count == 1)
        }
    }

    @Test func `an app with channels cannot be deleted, until they are deleted at Apple`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await refuses(.appInUse) { try await stores.apps.delete(.sample()) }
            try await stores.cancel()
            try await stores.align()
            try await refuses(.appInUse) { try await stores.apps.delete(.sample()) }
            stores.clock.advance(by: 100_000)
            try await stores.provision()
            try await stores.apps.delete(.sample("com.example.goal"))
            #expect(try await stores.apps.app(.sample()) == nil)
        }
    }
}

/// The deletion of an app that has a history.
@Suite(.timeLimit(.minutes(20)))
struct AppDeletionTests {
    /// Every table with rows that belong to an app.
    private static let tables = [
        "app_environments", "audiences", "channels", "deliveries", "installations", "start_tokens", "follows",
        "activities", "start_runs", "starts", "device_accounts", "reconciliations",
        "quota_samples", "unmanaged_channels",
    ]

    /// Gives an app events with messages, installations and starts: rows as they are after years.
    private static func grow(_ bundleID: String, by size: Int, _ stores: StoreWorld) async throws {
        let statements: [PostgresQuery] = [
            """
            insert into events (key, name, created_at, updated_at, ended_at)
            select \(bundleID) || n, 'Match', now(), now(), now() from generate_series(1, \(size / 100)) n
            """,
            """
            insert into audiences (event_key, bundle_id, environment, storage_policy, closed_at)
            select \(bundleID) || n, \(bundleID), 'production', 'noMessageStored', now()
            from generate_series(1, \(size / 100)) n
            """,
            """
            insert into broadcasts (id, event_key, event, accepted_at)
            select gen_random_uuid(), key, 'update', now() from events, generate_series(1, 10)
            where key like \(bundleID) || '%'
            """,
            """
            insert into deliveries (broadcast_id, lane, state, is_end, priority, alerting, apns_expiration, expires_at,
                apns_request_id, settled_at)
            select b.id, u.lane, 'accepted', false, 5, false, 0, now(), gen_random_uuid(), now()
            from audiences u join broadcasts b using (event_key) where u.bundle_id = \(bundleID)
            """,
            """
            insert into installations (app, installation, secret_hash, system_version, live_activities_enabled,
                frequent_pushes_enabled, created_at, seen_at)
            select ae.id, gen_random_uuid(), sha256('secret'), 18000, true, true, now(), now()
            from app_environments ae, generate_series(1, \(size)) where bundle_id = \(bundleID)
            """,
            """
            insert into follows select i.id, 'team:' || n, i.app from installations i, generate_series(1, 3) n
            where app in (select id from app_environments where bundle_id = \(bundleID))
            """,
            """
            insert into start_tokens select i.id, 'MatchAttributes', i.app, sha256(i.id::text::bytea), now()
            from installations i where app in (select id from app_environments where bundle_id = \(bundleID))
            """,
            """
            insert into activities (installation, activity, app, event_key, attributes_type, state, reported_at)
            select i.id, 'one', i.app, \(bundleID) || 1, 'MatchAttributes', 'ended', now()
            from installations i where app in (select id from app_environments where bundle_id = \(bundleID))
            """,
            """
            insert into start_runs (event_key, app, topics, attributes_type)
            select u.event_key, ae.id, '{}', 'MatchAttributes'
            from audiences u join app_environments ae using (bundle_id, environment) where u.bundle_id = \(bundleID)
            """,
            """
            insert into starts (run, installation, state, at) select r.id, i.id, 'accepted', now()
            from start_runs r join installations i using (app) join app_environments ae on ae.id = r.app
            where ae.bundle_id = \(bundleID) and r.event_key = \(bundleID) || 1
            """,
            """
            with made as (
                insert into channels (id, bundle_id, environment, storage_policy, state, created_at, changed_at)
                select gen_random_uuid(), \(bundleID), 'production', 'noMessageStored', 'deleted', now(), now()
                from generate_series(1, \(size / 100)) returning id
            )
            insert into audiences (bundle_id, environment, storage_policy, channel)
            select \(bundleID), 'production', 'noMessageStored', id from made
            """,
            """
            insert into quota_samples select \(bundleID), 'production', 300, now() - n * interval '5 min', 1, 0, 1, 1, 0, 0
            from generate_series(1, \(size)) n
            """,
        ]
        for statement in statements { try await stores.pool.query(statement) }
    }

    @Test func `a long history is removed step by step, and the app cannot be used meanwhile`() async throws {
        try await withStores { stores in
            let (app, other) = (try BundleID.sample(), try BundleID.sample("com.example.Other"))
            for one in [app, other] { _ = try await stores.apps.put(.sample(one.rawValue, at: stores.now)) }
            try await Self.grow(other.rawValue, by: 300, stores)
            let before = try await stores.filled(Self.tables)
            try await Self.grow(app.rawValue, by: 4_000, stores)
            _ = try await stores.keys.create(name: "k", scopes: [.device], bundleID: app)

            try await stores.apps.delete(app)
            let deleting = try #require(try await stores.apps.app(app))
            #expect(deleting.value.deletingSince != nil)
            #expect(try await stores.apps.apps(PageRequest()).items.count == 2)
            #expect(try await stores.keys.keys().isEmpty)
            try await refuses(.appNotFound) { try await stores.apps.registered(app) }
            try await refuses(.appExists) { try await stores.apps.put(.sample()) }
            try await refuses(.invalidRequest) { try await stores.put(.sample(), as: "new") }
            try await refuses(.appNotFound) {
                try await stores.keys.create(name: "l", scopes: [.device], bundleID: app)
            }
            let phones = InstallationStore(Database(stores.pool))
            try await refuses(.appNotFound) {
                try await phones.put(Phones.state(), of: Phones.id(), secret: Phones.secret, now: stores.now)
            }
            try await refuses(.appNotFound) { try await stores.reserve() }
            // A second call continues the deletion.
            try await stores.apps.delete(app)

            var steps = 2
            var sum = try await stores.filled(Self.tables).values.reduce(0, +)
            while try await stores.apps.app(app) != nil {
                #expect(try await stores.apps.removeDeleted())
                let left = try await stores.filled(Self.tables).values.reduce(0, +)
                // A step removes 5,000 rows, and sometimes more: its limit does not count every deleted row, and the
                // last part of the step may exceed the limit.
                #expect(sum - left < 16_000)
                (sum, steps) = (left, steps + 1)
            }
            #expect((4..<60).contains(steps))
            #expect(try await !stores.apps.removeDeleted())
            for (table, count) in try await stores.filled(Self.tables) {
                // `before` counts the environments of both apps. Two rows are left: the environments of the other app.
                #expect(count == (table == "app_environments" ? 2 : before[table]), "\(table)")
            }
            #expect(try await stores.apps.registered(other).deletingSince == nil)
            try await refuses(.appNotFound) { try await stores.apps.delete(app) }
            let anew = try await stores.apps.put(.sample(at: stores.now))
            #expect(anew.created)
            #expect(anew.app.value.deletingSince == nil)
        }
    }

    @Test func `an event that continues sends nothing more to a deleted app, and opens no channel for it`()
        async throws
    {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample("com.example.Other"))
            try await stores.put(
                .sample(channelsOpenAt: stores.now + 60, audiences: [.sample(), .sample("com.example.Other")]))
            try await stores.accept(.update())
            try await Self.grow("com.example.Goal", by: 2_000, stores)
            try await stores.apps.delete(.sample())
            #expect(try await stores.apps.app(.sample()) != nil)
            stores.clock.advance(by: 120)
            try await stores.align()
            let channels = try await stores.count(
                "select count(*) as n from channels where bundle_id = 'com.example.Goal' and state <> 'deleted'")
            #expect(channels == 0)
            while try await stores.apps.app(.sample()) != nil { _ = try await stores.apps.removeDeleted() }
            let event = try #require(try await stores.event())
            #expect(event.audiences.map(\.bundleId) == ["com.example.Other"])
        }
    }
}

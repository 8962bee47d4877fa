internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// What a key of one app may access, judged by the event's present audiences.
@Suite(.timeLimit(.minutes(20)))
struct ReachTests {
    private static let a = "com.example.A"
    private static let b = "com.example.B"

    private func reach(_ apps: String...) throws -> AppReach { .only(Set(try apps.map { try BundleID.sample($0) })) }

    private func audiences(_ apps: String...) throws -> [Audience] { try apps.map { try .sample($0) } }

    private func withApps(_ body: (StoreWorld) async throws -> Void) async throws {
        try await withStores { stores in
            for app in [Self.a, Self.b] { try await stores.apps.put(.sample(app)) }
            try await body(stores)
        }
    }

    @Test func `an event is within reach if all its audiences are, and its key begins with the prefix`() throws {
        let both = [try BundleID.sample(Self.a), try BundleID.sample(Self.b)]
        let match = EventKey(rawValue: "match-1")
        #expect(AppReach.all.covers(event: match, of: both))
        #expect(try reach("com.example.a").covers(event: match, of: [.sample(Self.a)]))
        #expect(try !reach(Self.a).covers(event: match, of: both))
        #expect(try reach(Self.a, Self.b).covers(event: match, of: both))
        #expect(!AppReach.only([]).covers(event: match, of: both))
        // An event without audiences is only for keys of all apps.
        #expect(AppReach.all.covers(event: match, of: [BundleID]()))
        #expect(try !reach(Self.a).covers(event: match, of: [BundleID]()))
        let app = [try BundleID.sample(Self.a)]
        let cup = AppReach(of: app, eventKeyPrefix: try .sample("cup."))
        #expect(try cup.covers(event: .sample("cup.final"), of: app))
        #expect(try !cup.covers(event: .sample("cup.final"), of: app + [.sample(Self.b)]))
        #expect(try !cup.covers(event: .sample("cupfinal"), of: app))
        // Only a key for the whole app may access the app itself, or a channel without an event.
        #expect(!cup.covers(event: nil, of: app))
        #expect(AppReach.only(Set(app)).covers(event: nil, of: app))
        #expect(AppReach.only(Set(app)).covers(cup) && AppReach.all.covers(cup))
        #expect(!cup.covers(AppReach.only(Set(app))))
        #expect(try cup.covers(AppReach(of: app, eventKeyPrefix: .sample("cup.final."))))
        #expect(try AppReach(of: nil, eventKeyPrefix: .sample("cup.")).covers(cup))
        #expect(try AppReach(of: nil, eventKeyPrefix: .sample("cup.")) != .all)
    }

    @Test func `other keys may not declare events with a key's prefix, and refusals do not reveal events`()
        async throws
    {
        try await withApps { stores in
            let (own, other) = (try reach(Self.a), try reach(Self.b))
            let cup = AppReach(of: own.apps, eventKeyPrefix: try .sample("cup."))
            let draft = Contract.KeyDraft(
                name: "cup", scopes: [.organise], bundleId: own.onlyApp?.rawValue, eventKeyPrefix: "cup.")
            let key = try #require(UUID(uuidString: try await stores.create(draft).id))
            func declare(_ name: String, of app: String, within reach: AppReach) async throws -> Problem? {
                do {
                    _ = try await stores.events.put(
                        .sample(audiences: audiences(app)), as: name, within: reach, by: .server, now: stores.now)
                    return nil
                } catch let problem as Problem { return problem }
            }
            #expect(try await declare("cup.final", of: Self.a, within: cup) == nil)
            for reach in [own, other] {
                let app = reach == own ? Self.a : Self.b
                let free = try await declare("cup.semi", of: app, within: reach)
                #expect(free?.kind == .forbidden)
                #expect(
                    try await declare("league.1", of: app, within: reach)?.kind == (reach == own ? nil : .forbidden))
                guard reach == other else { continue }
                // An event key that is taken and one that is free are refused with the same words, whichever version
                // the request names.
                for name in ["cup.final", "cup.semi"] {
                    let conditional = try await problem {
                        try await stores.events.put(
                            .sample(audiences: audiences(app)), as: name, within: reach, by: .server, if: .present,
                            now: stores.now)
                    }
                    #expect(conditional == .forbidden)
                }
                let taken = try await declare("cup.final", of: app, within: reach)
                #expect(taken?.detail.replacing("cup.final", with: "") == free?.detail.replacing("cup.semi", with: ""))
            }
            // Keys for all apps may declare any event; a revoked key reserves no prefix.
            #expect(try await declare("cup.third", of: Self.b, within: .all) == nil)
            _ = try await stores.keys.revoke(key, by: .commandLine)
            #expect(try await declare("cup.semi", of: Self.b, within: other) == nil)
        }
    }

    @Test(arguments: [.present, .versions([1])] as [WriteCondition])
    func `a condition does not tell whether another app has the event`(condition: WriteCondition) async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample(Self.b))
            try await stores.open("taken", audiences: audiences(Self.a))
            let refusals = try await ["taken", "free"].asyncMap { name in
                await #expect(throws: Problem.self) {
                    try await stores.events.put(
                        .sample(audiences: audiences(Self.b)), as: name, within: reach(Self.b), by: .server,
                        if: condition,
                        now: stores.now)
                }
            }
            #expect(refusals.map(\.?.kind) == [.versionMismatch, .versionMismatch])
            #expect(refusals[0]?.detail == refusals[1]?.detail)
        }
    }

    @Test func `what is beyond a key's prefix is not there for it`() async throws {
        try await withStores { stores in
            try await stores.open(audiences: audiences(Self.a))
            let (own, broadcast) = (try reach(Self.a), try await stores.accept(.update()))
            for (prefix, isWithin) in [("cup.", false), ("match-", true)] {
                let bound = AppReach(of: own.apps, eventKeyPrefix: try .sample(prefix))
                #expect(try await (stores.outbox.broadcast(broadcast.id, within: bound) != nil) == isWithin)
                let listed = try await stores.events.events(
                    where: EventFilter(reach: bound), PageRequest(), now: stores.now)
                #expect(listed.items.isEmpty != isWithin)
                let intake = Intake(.event(try .sample()), request: .update(), within: bound)
                let sent = try await stores.accept([intake])
                if isWithin {
                    _ = try #require(sent.first).get()
                    try await stores.events.cancel(.sample(), within: bound, by: .server, now: stores.now)
                } else {
                    try await refuses(.eventNotFound) { try #require(sent.first).get() }
                    let hidden = try await stores.outbox.cancel(broadcast.id, within: bound, now: stores.now)
                    #expect(hidden == nil)
                    try await refuses(.eventNotFound) {
                        try await stores.events.cancel(.sample(), within: bound, by: .server, now: stores.now)
                    }
                }
            }
        }
    }

    @Test func `keys of other apps cannot have overlapping prefixes`() async throws {
        try await withApps { stores in
            func make(_ prefix: String, _ app: String) async throws -> Contract.IssuedKey {
                try await stores.create(
                    .init(
                        name: prefix, scopes: [.organise], bundleId: BundleID.sample(app).rawValue,
                        eventKeyPrefix: prefix))
            }
            let key = try await make("cup.", Self.a)
            for prefix in ["cup.", "cup.1", "c"] {
                try await refuses(.invalidRequest) { try await make(prefix, Self.b) }
            }
            #expect(try await make("cup.women.", Self.a).eventKeyPrefix == "cup.women.")
            #expect(try await make("league.", Self.b).bundleId == BundleID.sample(Self.b).rawValue)
            let rotated = try await stores.keys.rotate(
                try #require(UUID(uuidString: key.id)), overlap: 0, by: .commandLine)
            #expect(rotated.bundleIds == key.bundleIds && rotated.eventKeyPrefix == "cup.")
        }
    }

    @Test func `a broadcast to a channel without an event belongs to its app`() async throws {
        try await withApps { stores in
            let channel = try await stores.adopt(of: Self.a)
            let (own, other) = (try reach(Self.a), try reach(Self.b))
            let accepted = try await stores.accept(
                [other, own].map { Intake(.channel(channel.id), request: .update(), within: $0) })
            #expect(accepted[0].failure?.kind == .channelNotFound)
            let broadcast = try accepted[1].get()
            #expect(try await stores.outbox.broadcast(broadcast.id, within: other) == nil)
            #expect(try await stores.outbox.broadcast(broadcast.id, within: own)?.id == broadcast.id)
        }
    }

    @Test
    func
        `a removed app sees nothing more of the event, and the event's app nothing of what was sent to it`()
        async throws
    {
        try await withStores { stores in
            try await stores.open(audiences: audiences(Self.a, Self.b))
            let both = try await stores.accept(.update())
            let onlyB = try await stores.accept(.update(audiences: [.sample(Self.b)]))
            let (a, b) = (try reach(Self.a), try reach(Self.b))
            for reach in [a, b] {
                #expect(try await stores.outbox.broadcast(both.id, within: reach) == nil)
                // Such a key neither sends to the event nor imports a channel for it.
                let intake = Intake(.event(try .sample()), request: .update(), within: reach)
                let refused = try await stores.accept([intake])
                #expect(refused[0].failure?.kind == .eventNotFound)
                try await refuses(.eventNotFound) {
                    try await stores.adopt(for: "match-1", of: Self.a, within: reach)
                }
            }
            try await stores.put(.sample(audiences: audiences(Self.a)))
            #expect(try await stores.outbox.broadcast(both.id, within: b) == nil)
            #expect(try await stores.outbox.broadcasts(of: .sample(), within: b, PageRequest()).items.isEmpty)
            let shown = try #require(try await stores.outbox.broadcast(both.id, within: a))
            #expect(shown.deliveries.map(\.bundleId) == [Self.a])
            #expect(try await stores.outbox.broadcast(onlyB.id, within: a) == nil)
            let listed = try await stores.outbox.broadcasts(of: .sample(), within: a, PageRequest()).items
            #expect(listed == [shown])
            #expect(try await stores.read(both)?.deliveries.count == 2)
            try await stores.accept(.update(sendAt: stores.now + 60))
            let scheduled = try await stores.outbox.broadcasts(
                of: .sample(), within: b, PageRequest(), isScheduled: true)
            #expect(scheduled.items.isEmpty)
        }
    }

    @Test func `a PUT of an event that another app creates waits for the creation, and does not take the event over`()
        async throws
    {
        try await withApps { stores in
            let own = try reach(Self.b)
            let mine = try Contract.EventDraft.sample(audiences: audiences(Self.b))
            // The event as the other key creates it: written, not committed yet.
            let late = try await stores.pool.transaction { connection in
                try await connection.query(
                    "insert into events (key, name, created_at, updated_at) values ('match-1', 'theirs', now(), now())")
                try await connection.query(
                    """
                    insert into audiences (event_key, bundle_id, environment, storage_policy)
                    values ('match-1', \(Self.a), 'production', 'noMessageStored')
                    """)
                let late = Task {
                    try await stores.events.put(mine, within: own, by: .server, now: stores.now)
                }
                try await stores.untilSomebodyWaits()
                return late
            }
            try await refuses(.forbidden) { try await late.value }
            let event = try #require(try await stores.event())
            #expect(event.name == "theirs")
            #expect(event.audiences.map(\.bundleId) == [Self.a])
            // The caller gets the same refusal whether the event is over or not.
            try await stores.cancel()
            for _ in 1...2 {
                try await refuses(.forbidden) {
                    try await stores.events.put(mine, within: own, by: .server, now: stores.now)
                }
            }
            try await refuses(.eventNotFound) {
                try await stores.events.cancel(.sample(), within: own, by: .server, now: stores.now)
            }
        }
    }
}

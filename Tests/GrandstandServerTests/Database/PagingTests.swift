internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Lists are read in pages.
@Suite(.timeLimit(.minutes(20)))
struct PagingTests {
    struct List: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The last three have a NUL, a time that PostgreSQL does not have, and a negative one.
        var wrongCursors = [
            "?", "", PagingTests.cursor("1 a\0b"), PagingTests.cursor("\(Int.max) a"), PagingTests.cursor("-1 a"),
        ]
        /// Makes items, and returns their names in the order of the list.
        let fill: @Sendable (StoreWorld) async throws -> [String]
        let page: @Sendable (StoreWorld, PageRequest) async throws -> Contract.Page<String>
    }

    static func cursor(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    static let lists: [List] = [
        List(testDescription: "apps by bundle ID", wrongCursors: []) { stores in
            for name in ["c", "a", "b"] { try await stores.apps.put(.sample("com.example.\(name)")) }
            return ["a", "b", "c"].map { "com.example.\($0)" }
        } page: {
            try await $0.apps.apps($1).named { $0.bundleId }
        },
        List(testDescription: "events by creation, and then by key") { stores in
            for (key, step) in [("c", 0.0), ("a", 0), ("b", 0.000_001), ("e", 1), ("d", 0)] {
                stores.clock.advance(by: step)
                try await stores.put(.sample(), as: key)
            }
            return ["a", "c", "b", "d", "e"]
        } page: {
            try await $0.events.events(where: EventFilter(), $1, now: $0.now).named { $0.key }
        },
        List(testDescription: "channels by creation") { stores in
            let keys = (1...5).map { "match-\($0)" }
            for key in keys {
                stores.clock.advance(by: 1)
                try await stores.open(key)
            }
            return keys
        } page: {
            try await $0.channels.channels(of: .sample(), where: ChannelFilter(), $1)
                .named { $0.eventKey ?? "none" }
        },
        List(testDescription: "unmanaged channels by Apple's ID", wrongCursors: []) { stores in
            try await stores.apps.put(.sample())
            try await stores.witness(["b", "c", "a"])
            return ["a", "b", "c"]
        } page: {
            try await $0.channels.unmanagedChannels(of: .sample(), $1).named { $0.channelId ?? "none" }
        },
        List(testDescription: "keys, the newest first") { stores in
            for n in 0..<5 {
                let draft = Contract.KeyDraft(name: "\(n)", scopes: [.lookup])
                _ = try await stores.keys.create(draft, by: .commandLine)
                stores.clock.advance(by: 1)
            }
            return ["4", "3", "2", "1", "0"]
        } page: {
            try await $0.keys.keys(within: .all, $1).named { $0.name }
        },
        List(
            testDescription: "an event's broadcasts, the newest first, those of a batch in its order",
            wrongCursors: ["x", "MTIzIHg=", ""]
        ) { stores in
            for key in ["other", "match-1"] { try await stores.open(key) }
            try await stores.accept(.update(), for: "other")
            var ids: [String] = []
            for _ in 1...2 {
                ids += try await stores.accept(Array(repeating: .update(), count: 3)).map { "\(try $0.get().id)" }
                stores.clock.advance(by: 0.001)
            }
            return ids.reversed()
        } page: {
            try await $0.outbox.broadcasts(of: .sample(), $1).named { $0.id }
        },
        List(testDescription: "scheduled broadcasts by their times") { stores in
            try await stores.open()
            try await stores.accept(.update())
            var ids: [String] = []
            for delay in [300.0, 100, 200] {
                ids.append("\(try await stores.accept(.update(sendAt: stores.now + delay)).id)")
            }
            return [ids[1], ids[2], ids[0]]
        } page: {
            try await $0.outbox.broadcasts(of: .sample(), within: .all, $1, isScheduled: true).named { $0.id }
        },
        List(testDescription: "topics by their followers") { stores in
            let world = StartWorld(stores)
            try await world.declare()
            for topics in [["a", "b"], ["b", "c"], ["b", "d"]] { try await world.follow(topics) }
            return ["b:3", "a:1", "c:1", "d:1"]
        } page: {
            try await StartWorld($0).starts.topics(of: .sample(), $1).named { "\($0.topic):\($0.followers)" }
        },
        List(testDescription: "entries of the audit log, the newest first") { stores in
            for name in ["a", "b", "c"] { try await stores.put(.sample(), as: name) }
            return ["c", "b", "a", "none"]
        } page: {
            try await $0.auditLog.entries(where: AuditFilter(), $1).named { $0.eventKey ?? "none" }
        },
    ]

    @Test(arguments: lists)
    func `a list has each item once in order, and refuses wrong cursors`(_ list: List) async throws {
        try await withStores { stores in
            let wanted = try await list.fill(stores)
            var seen: [String] = []
            var request = PageRequest(limit: 2)
            repeat {
                let page = try await list.page(stores, request)
                #expect((1...2).contains(page.items.count))
                seen += page.items
                request.cursor = page.nextCursor
            } while request.cursor != nil
            #expect(seen == wanted)
            for cursor in list.wrongCursors {
                try await refuses(.invalidRequest) { try await list.page(stores, PageRequest(cursor: cursor)) }
            }
        }
    }
}

extension Contract.Page {
    fileprivate func named(_ name: (Item) -> String) -> Contract.Page<String> {
        Contract.Page(items: items.map(name), nextCursor: nextCursor)
    }
}

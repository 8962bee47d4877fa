internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// What becomes of a channel after each answer of Apple.
@Suite(.timeLimit(.minutes(20)))
struct ChannelCallsTests {
    private static let app = "com.example.plain"

    /// A ledger with one app, and calls to Apple with these answers.
    private static func with(
        _ gateway: ScriptedGateway, limit: Int = 10_000, _ body: (StoreWorld, ChannelCalls) async throws -> Void
    ) async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample(app, channelLimit: limit))
            let calls = ChannelCalls(
                gateway: gateway, channels: stores.channels, lease: 10,
                now: { stores.now }, logger: LoopSample.logger)
            try await body(stores, calls)
        }
    }

    /// A retiring channel that no device needs.
    private static func spare(_ stores: StoreWorld, _ channelID: String = "old==") async throws {
        try await stores.pool.query(
            """
            insert into channels (id, bundle_id, environment, channel_id, storage_policy, state, retire_at, created_at, changed_at)
            values (\(UUID()), \(app), 'production', \(channelID), 'noMessageStored', 'retiring', \(stores.now + 60),
                \(stores.now - 86_400), \(stores.now - 86_400))
            """)
    }

    /// A leased deletion of the channel `abc==`.
    private static func deletion(_ stores: StoreWorld) async throws -> ChannelTask {
        let channel = try await stores.adopt("abc==", of: app)
        return try #require(
            try await stores.channels.beginDeletion(
                channel.id, of: channel.app, force: false, now: stores.now, leasedUntil: stores.now + 10))
    }

    typealias Case = (
        APNsAnswer<String>, attempts: Int, reason: String, looped: Channel.State, pause: ClosedRange<Double>
    )

    /// For each answer: the state if the server itself requested the creation, which it repeats after the pause. For a
    /// caller, who gets the error, the channel is deleted.
    static let cases: [Case] = [
        // These failures are temporary, so the creation is repeated.
        (.refusing(.serviceUnavailable), 1, "ServiceUnavailable", .creating, 0.25...0.5),
        (.refusing(.tooManyRequests, retryAfter: 60), 1, "TooManyRequests", .creating, 60...60),
        // Each creation finds out by itself whether the capability is on again.
        (.refusing(.broadcastFeatureNotEnabled), 1, "BroadcastFeatureNotEnabled", .failed, 1...2),
        // Only people can remove the causes of these refusals, so the creation is repeated slowly.
        (.refusing(.badRequestParams), 1, "BadRequestParams", .failed, 128...256),
        (.refusing(.cannotCreateChannelConfig), 1, "CannotCreateChannelConfig", .failed, 7.5...15),
        // The request was not sent to Apple.
        (.unsent("no key"), 1, "no key", .creating, 0.25...0.5),
        // Later attempts have longer delays.
        (.unsent("down"), 5, "down", .creating, 4...8),
    ]

    @Test func `a failed creation is repeated for the server, and not for a caller`() async throws {
        for test in Self.cases {
            try await Self.with(ScriptedGateway(creations: [test.0])) { stores, calls in
                var task = try await stores.reserve(Self.app)
                task.channel.attempts = test.attempts
                try await stores.pool.query("update channels set attempts = \(test.attempts)")
                let (looped, _) = try await calls.create(task, retries: true, by: .server)
                #expect(looped.state == test.looped && looped.reason == test.reason)
                let pause = try #require(looped.nextAttemptAt).timeIntervalSince(stores.now)
                #expect(
                    test.pause.lowerBound - 0.001...test.pause.upperBound + 0.001 ~= pause, "\(test.reason): \(pause)")
                let (asked, _) = try await calls.create(stores.reserve(Self.app), retries: false, by: .commandLine)
                #expect(asked.state == .deleted && asked.nextAttemptAt == nil)
            }
        }
    }

    @Test(arguments: [true, false])
    func `without an answer Apple may have created a channel, and only its list can tell`(
        _ retries: Bool
    ) async throws {
        let gateway = ScriptedGateway(creations: [.unanswered("lost")])
        try await Self.with(gateway) { stores, calls in
            let (channel, _) = try await calls.create(stores.reserve(Self.app), retries: retries, by: .server)
            #expect(channel.state == .creating && channel.reason == "lost")
            #expect(channel.nextAttemptAt == stores.now + 2)
            stores.clock.advance(by: 3)
            #expect(try await stores.claimChannels().isEmpty)
            #expect(gateway.calls.created.count == 1)
        }
    }

    @Test func `a list is read before a creation unless one was read lately, one for all creations of an app`()
        async throws
    {
        let listing = ChannelListing(channelIDs: ["theirs=="])
        // A list that cannot be read delays no creation, and is not requested for each of them either.
        for (list, seen) in [(APNsAnswer.giving(listing), 1), (.refusing(.serviceUnavailable), 0)] {
            let gateway = ScriptedGateway(creations: [.giving("a"), .giving("b"), .giving("c")], lists: [list])
            try await Self.with(gateway) { stores, calls in
                var tasks: [ChannelTask] = []
                for _ in 0..<3 { tasks.append(try await stores.reserve(Self.app)) }
                for task in tasks { _ = try await calls.create(task, retries: true, by: .server) }
                #expect(gateway.calls.listed.count == 1 && gateway.calls.created.count == 3)
                #expect(try await stores.rows("unmanaged_channels where channel_id = 'theirs=='") == seen)
            }
        }
        // A list that another replica has read is also used, for half a minute.
        for (age, lists) in [(29.0, 0), (31.0, 1)] {
            let gateway = ScriptedGateway(creations: [.giving("abc==")], lists: [.giving(listing)])
            try await Self.with(gateway) { stores, calls in
                var task = try await stores.reserve(Self.app)
                task.listAskedAt = stores.now - age
                _ = try await calls.create(task, retries: true, by: .server)
                #expect(gateway.calls.listed.count == lists)
            }
        }
    }

    @Test func `a creation whose lease ended while the list was read is not sent`() async throws {
        let gateway = ScriptedGateway(lists: [.giving(ChannelListing(channelIDs: []))])
        try await Self.with(gateway) { stores, calls in
            let task = try await stores.reserve(Self.app)
            try await stores.pool.query("update channels set attempts = 2")
            let (_, answer) = try await calls.create(task, retries: true, by: .server)
            guard case .withheld = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(gateway.calls.created.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `without a place at Apple a spare channel is deleted, or a list requested`(hasSpare: Bool) async throws {
        let gateway = ScriptedGateway(
            creations: [.refusing(.cannotCreateChannelConfig), .giving("abc==")], deletions: [.ok])
        try await Self.with(gateway) { stores, calls in
            if hasSpare { try await Self.spare(stores) }
            let (channel, _) = try await calls.create(stores.reserve(Self.app), retries: false, by: .server)
            #expect(gateway.calls.deleted == (hasSpare ? ["old=="] : []))
            #expect(gateway.calls.created.count == (hasSpare ? 2 : 1))
            #expect(channel.state == (hasSpare ? .active : .deleted))
            #expect(try await stores.rows("app_environments where reconcile_at is not null") == (hasSpare ? 0 : 1))
        }
    }

    @Test func `at the limit a retiring channel is deleted before a caller's is created, or the caller is refused`()
        async throws
    {
        let draft = Contract.ChannelDraft(storagePolicy: .noMessageStored)
        for (hasSpare, answer, isCreated) in [
            (true, APNsAnswer<Void>.ok, true), (true, .unanswered("lost"), false), (false, .ok, false),
        ] {
            let gateway = ScriptedGateway(creations: [.giving("new==")], deletions: [answer])
            try await Self.with(gateway, limit: 1) { stores, calls in
                if hasSpare { try await Self.spare(stores) } else { try await stores.adopt("used==", of: Self.app) }
                let app = AppEnvironment(bundleID: try .sample(Self.app), environment: .production)
                let create = { try await calls.create(draft, for: app, by: .commandLine) }
                if isCreated {
                    #expect(try await create().channelID == "new==")
                } else {
                    try await refuses(.quotaExhausted, create)
                }
                #expect(gateway.calls.deleted == (hasSpare ? ["old=="] : []))
                #expect(gateway.calls.created.isEmpty == !isCreated)
            }
        }
    }

    private static let noPath = APNsRefusal(status: 404, reason: .badPath)

    /// For each answer to a deletion, and to the request for the list that follows a 404: how long the pause before the
    /// repetition is and with which reason; `nil`: the channel is deleted.
    static let deletions: [(APNsAnswer<Void>, list: APNsAnswer<ChannelListing>?, ClosedRange<Double>?, String?)] = [
        (.ok, nil, nil, nil), (.refusing(.channelNotRegistered), nil, nil, nil),
        (.refusing(.badChannelId), nil, nil, nil),
        (.refused(noPath), .giving(ChannelListing(channelIDs: ["other=="])), nil, nil),
        (.refused(noPath), .giving(ChannelListing(channelIDs: ["abc=="])), 128...256, "BadPath"),
        // The list is answered with 404, too, because the path is wrong. So the first 404 does not show that the
        // channel is gone.
        (.refused(noPath), .refused(noPath), 128...256, "BadPath"),
        (.refused(noPath), .unanswered("lost"), 128...256, "BadPath"),
        // Only a 404 means that the channel does not exist.
        (.refused(APNsRefusal(status: 400, reason: .badPath)), nil, 128...256, "BadPath"),
        (.refusing(.serviceUnavailable), nil, 0.25...0.5, "ServiceUnavailable"),
        (.refusing(.topicMismatch), nil, 128...256, "TopicMismatch"),
        (.unanswered("lost"), nil, 0.25...0.5, "lost"), (.unsent("no key"), nil, 0.25...0.5, "no key"),
    ]

    @Test func `a channel that Apple deleted or does not have becomes deleted, and a failed deletion is repeated`()
        async throws
    {
        for (answer, list, pause, reason) in Self.deletions {
            let gateway = ScriptedGateway(deletions: [answer], lists: list.map { [$0] } ?? [])
            try await Self.with(gateway) { stores, calls in
                let (channel, _) = try await calls.delete(try await Self.deletion(stores), by: .server)
                #expect(gateway.calls.deleted == ["abc=="] && gateway.calls.listed.count == (list == nil ? 0 : 1))
                #expect(channel.state == (pause == nil ? .deleted : .deleting) && channel.reason == reason, "\(answer)")
                let next = channel.nextAttemptAt?.timeIntervalSince(stores.now)
                #expect(pause.map { $0.lowerBound - 0.001...$0.upperBound + 0.001 ~= next ?? 0 } ?? (next == nil))
            }
        }
    }
}

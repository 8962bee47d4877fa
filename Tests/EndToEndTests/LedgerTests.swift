internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// No channel is lost, none is made twice, and the quota is exact, whatever Apple answers.
@Suite(.timeLimit(.minutes(5)))
struct LedgerTests {
    private static let channels = "/v1/apps/\(Stage.bundleID)/development/channels"
    private static let draft = #"{"storagePolicy": "noMessageStored"}"#
    private static let impatient = ["GRANDSTAND_APNS_REQUEST_TIMEOUT": "0.5", "GRANDSTAND_RECONCILE_INTERVAL": "0"]

    @Test func `the channel of an unanswered creation is found in Apple's list`() async throws {
        try await Stage.with(settings: Self.impatient, options: { $0.capitals = .accepted }) { stage in
            try await stage.putApp()
            stage.simulator.dropNext(1) { $0.isCreation }
            try await stage.putEvent("derby")
            let channelIDs = try await stage.activeChannels(of: "derby")
            #expect(stage.atApple().map(\.id) == channelIDs)
            #expect(stage.simulator.journal().count { $0.request.isCreation } == 1)
            #expect(try await stage.audited("channel.unanswered").count == 1)
            let adopted = try await stage.audited("channel.adopted")
            #expect(adopted.map { $0["channelId"]?.string } == channelIDs)
            #expect(adopted.first?["eventKey"]?.string == "derby")
        }
    }

    @Test func `an unanswered creation that created no channel is repeated`() async throws {
        try await Stage.with(settings: Self.impatient, options: { $0.capitals = .accepted }) { stage in
            try await stage.putApp()
            // APNs answers 201 without a channel ID, and creates no channel.
            stage.simulator.answerNext(1, with: SimulatorAnswer(status: 201)) { $0.isCreation }
            try await stage.putEvent("derby")
            let channelIDs = try await stage.activeChannels(of: "derby")
            #expect(stage.atApple().map(\.id) == channelIDs)
            #expect(stage.simulator.journal().count { $0.request.isCreation } == 2)
        }
    }

    @Test func `after an unanswered manual creation the caller has an ID under which the channel appears`() async throws
    {
        try await Stage.with(settings: Self.impatient, options: { $0.capitals = .accepted }) { stage in
            try await stage.putApp()
            stage.simulator.dropNext(1) { $0.isCreation }
            let answer = try await stage.api("POST", Self.channels, Self.draft)
            #expect(answer.status == 504)
            #expect(answer.slug == "apns-unanswered")
            let id = try #require(answer.json["id"]?.string)
            let channelID = try await until("the channel is active") {
                let channel = try await stage.api("GET", "\(Self.channels)/\(id)").json
                return channel["state"]?.string == "active" ? channel["channelId"]?.string : nil
            }
            #expect(stage.atApple().map(\.id) == [channelID])
        }
    }

    @Test func `of forty parallel creations at a limit of seven, only seven are sent to Apple`() async throws {
        try await Stage.with(options: { $0.capitals = .accepted }) { stage in
            try await stage.putApp(channelLimit: 7)
            let answers = try await stage.createChannels(40)
            #expect(
                answers.map(\.status).sorted() == Array(repeating: 201, count: 7) + Array(repeating: 409, count: 33))
            let refused = answers.map(\.json).filter { $0["limit"] != nil }
            #expect(refused.count == 33)
            // Callers that came while channels were being created see these channels as `reserved`.
            let taken = refused.map { ($0["used"]?.int ?? 0) + ($0["reserved"]?.int ?? 0) }
            #expect(Set(taken) == [7])
            #expect(stage.simulator.journal().count { $0.request.isCreation } == 7)
            #expect(stage.atApple().count == 7)
            let quota = try await stage.quota()
            #expect(quota["used"]?.int == 7)
            #expect(quota["reserved"]?.int == 0)
        }
    }

    @Test func `forty parallel creations for an app with capitals record only once that Apple needs lowercase`()
        async throws
    {
        try await Stage.with { stage in
            try await stage.putApp()
            let answers = try await stage.createChannels(40)
            #expect(answers.allSatisfy { $0.status == 201 })
            let journal = stage.simulator.journal()
            // The server learns that Apple needs lowercase when it lists the channels before the creations. If the
            // listing times out on a busy machine, the server learns it from the creations that are sent before the
            // first answer.
            #expect(journal.count { $0.reason == .topicMismatch && !$0.request.isCreation } == 1)
            #expect(journal.count { $0.reason == .topicMismatch && $0.request.isCreation } < 40)
            #expect(journal.count { $0.request.isCreation && $0.reason == nil } == 40)
            #expect(stage.atApple().count == 40)
            #expect(try await stage.audited("quirk.learned").count == 1)
        }
    }

    @Test func `when Apple's limit is reached, a cancelled event's channel is deleted to make room`() async throws {
        try await Stage.with(options: {
            $0.channelLimit = 1
            $0.capitals = .accepted
        }) { stage in
            try await stage.putLiveEvent("friendly")
            let first = stage.atApple().map(\.id)
            // Below the limit, the cancelled event's channel would be kept for hours, although nothing was ever sent to
            // it.
            #expect(try await stage.api("DELETE", "/v1/events/friendly").status == 204)
            try await stage.putEvent("derby")
            let second = try await stage.activeChannels(of: "derby")
            #expect(stage.atApple().map(\.id) == second)
            #expect(second != first)
            let creations = stage.simulator.journal().filter(\.request.isCreation)
            // The pause before the next attempt of the creation does not depend on the deletion. If the place is not
            // free after the pause, the creation is refused again.
            #expect(creations.first?.reason == nil && creations.last?.reason == nil && creations.count > 2)
            #expect(creations.dropFirst().dropLast().allSatisfy { $0.reason == .cannotCreateChannelConfig })
        }
    }

    @Test func `channels that become free at Apple are used within 30 s, and until then the quota has none`()
        async throws
    {
        try await Stage.with(options: {
            $0.channelLimit = 3
            $0.capitals = .accepted
        }) { stage in
            try await stage.putApp()
            let others = try await AppleConsole.with(stage.simulator) { console in
                [try await console.create(), try await console.create()]
            }
            let keys = ["first", "second", "third"]
            for key in keys { try await stage.putEvent(key) }
            try await until("the quota says that Apple has no place left") {
                let quota = try await stage.quota()
                return quota["level"]?.string == "critical" && quota["alarm"]?.string == "quota-exhausted"
            }
            try await AppleConsole.with(stage.simulator) { console in
                for channel in others { try await console.delete(channel) }
            }
            let free = ContinuousClock.now
            for key in keys { try await stage.activeChannels(of: key) }
            #expect(free.duration(to: .now) < .seconds(30))
            #expect(stage.atApple().count == 3)
            #expect(try await stage.quota()["alarm"] == nil)
        }
    }

    @Test
    func `without the Broadcast capability creations wait, and one success resumes all within five seconds`()
        async throws
    {
        try await Stage.with(options: { $0.capitals = .accepted }) { stage in
            try await stage.putApp()
            stage.simulator.setBroadcastCapability(false, of: Stage.bundleID)
            let keys = (0..<5).map { "event-\($0)" }
            for key in keys { try await stage.putEvent(key) }
            for key in keys {
                let reason = try await until("\(key) says why it has no channel") {
                    let channel = try await stage.api("GET", "/v1/events/\(key)").json["audiences"]?[0]?["channel"]
                    return channel?["state"]?.string == "failed" ? channel?["reason"]?.string : nil
                }
                #expect(reason == "BroadcastFeatureNotEnabled")
            }
            let quirk = try await stage.api("GET", "/v1/apps/\(Stage.bundleID)").json["quirks"]?.items.first
            #expect(quirk?["quirk"]?.string == "broadcast-feature")
            #expect(quirk?["value"]?.string == "off")
            let refused = try await stage.api("POST", Self.channels, Self.draft)
            #expect(refused.json["apns"]?["reason"]?.string == "BroadcastFeatureNotEnabled")
            #expect(refused.json["detail"]?.string?.contains("Broadcast Capability") == true)

            stage.simulator.setBroadcastCapability(true, of: Stage.bundleID)
            #expect(try await stage.api("POST", Self.channels, Self.draft).status == 201)
            let resumed = ContinuousClock.now
            for key in keys { try await stage.activeChannels(of: key) }
            #expect(resumed.duration(to: .now) < .seconds(5))
            #expect(stage.atApple().count == keys.count + 1)
            #expect(try await stage.api("GET", "/v1/apps/\(Stage.bundleID)").json["quirks"]?.items == [])
        }
    }

    @Test(arguments: [APNsReason.tooManyRequests, .internalServerError, .serviceUnavailable])
    func `a deletion Apple cannot do now is done later`(_ reason: APNsReason) async throws {
        try await Stage.with(options: { $0.capitals = .accepted }) { stage in
            try await stage.putApp()
            let id = try #require(try await stage.api("POST", Self.channels, Self.draft).json["id"]?.string)
            stage.simulator.answerNext(1, with: .refusal(reason)) { $0.isDeletion }
            let refused = try await stage.api("DELETE", "\(Self.channels)/\(id)")
            #expect(refused.json["apns"]?["reason"]?.string == reason.rawValue)
            _ = try await stage.simulator.requests(1) { $0.request.isDeletion && $0.status == 204 }
            _ = try await until("the ledger knows") {
                try await stage.api("GET", "\(Self.channels)/\(id)").json["state"]?.string == "deleted" ? true : nil
            }
        }
    }

    @Test func `a deletion whose answer was lost counts as done when Apple no longer knows the channel`() async throws {
        try await Stage.with(settings: Self.impatient, options: { $0.capitals = .accepted }) { stage in
            try await stage.putApp()
            let id = try #require(try await stage.api("POST", Self.channels, Self.draft).json["id"]?.string)
            stage.simulator.dropNext(1) { $0.isDeletion }
            #expect(try await stage.api("DELETE", "\(Self.channels)/\(id)").slug == "apns-unanswered")
            _ = try await until("the ledger knows") {
                try await stage.api("GET", "\(Self.channels)/\(id)").json["state"]?.string == "deleted" ? true : nil
            }
            #expect(stage.atApple().isEmpty)
            #expect(try await stage.quota()["used"]?.int == 0)
        }
    }
}

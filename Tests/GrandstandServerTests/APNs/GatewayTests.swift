internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandContract
internal import HTTP2
internal import Synchronization
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandServer

/// The five APNs calls (send a broadcast; create, read, list and delete channels) as APNs receives them, and APNs'
/// answers as the service receives them.
@Suite(.timeLimit(.minutes(20)))
struct GatewayTests {
    private static let address = ClientAndSimulator.address

    @Test(arguments: StoragePolicy.allCases)
    func `a channel is created, read, listed and deleted`(_ policy: StoragePolicy) async throws {
        try await ClientAndSimulator.with { pair in
            let created = await pair.client.createChannel(policy, at: Self.address)
            let channelID = try created.value()
            #expect(try await pair.client.readChannel(channelID, at: Self.address).value() == policy)
            #expect(try await pair.client.listChannels(at: Self.address).value().channelIDs == [channelID])
            var production = Self.address
            production.environment = .production
            #expect(try await pair.client.listChannels(at: production).value().channelIDs == [])
            try await pair.client.deleteChannel(channelID, at: Self.address).value()
            #expect(try await pair.client.listChannels(at: Self.address).value().channelIDs == [])

            let requests = pair.simulator.journal().map(\.request)
            let (channels, list) = ("/1/apps/com.example.Stadium/channels", "/1/apps/com.example.Stadium/all-channels")
            #expect(requests.map(\.method) == ["POST", "GET", "GET", "GET", "DELETE", "GET"])
            #expect(requests.map(\.path) == [channels, channels, list, list, channels, list])
            #expect(
                requests.map { $0[header: "apns-channel-id"] } == [nil, channelID, nil, nil, channelID, nil])
            let body = #"{"message-storage-policy":\#(policy.wireValue),"push-type":"LiveActivity"}"#
            #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == [body, "", "", "", "", ""])
            #expect(created.receipt?.requestID == requests.first?[header: "apns-request-id"])
            for id in requests.map({ $0[header: "apns-request-id"] ?? "" }) {
                #expect(UUID(uuidString: id) != nil && id == id.lowercased())
            }
        }
    }

    @Test func `a broadcast has its headers and its body unchanged`() async throws {
        try await ClientAndSimulator.with { pair in
            let channelID = try await pair.makeChannel(.mostRecentMessageStored)
            let expiration = Int(Date().timeIntervalSince1970) + 60
            let message = ClientAndSimulator.message(to: channelID, expiration: expiration)
            let answer = await pair.client.send(message)
            #expect(answer.receipt?.requestID == message.message.requestID.uuidString.lowercased())
            #expect(answer.receipt?.uniqueID?.isEmpty == false)

            let sent = try #require(pair.simulator.journal().last?.request)
            #expect(sent.method == "POST")
            #expect(sent.path == "/4/broadcasts/apps/com.example.Stadium")
            #expect(sent.body == message.body)
            #expect(sent[header: "apns-channel-id"] == channelID)
            #expect(sent[header: "apns-push-type"] == "liveactivity")
            #expect(sent[header: "apns-priority"] == "10")
            #expect(sent[header: "apns-expiration"] == String(expiration))
            #expect(sent[header: "authorization"]?.hasPrefix("bearer ") == true)
        }
    }

    @Test func `without a key file or an endpoint nothing is sent, and the error says which`() async throws {
        try await ClientAndSimulator.with(settings: { $0.endpoints.send[.production] = nil }) { pair in
            var address = ClientAndSimulator.address
            address.credentials = KeyFolder.credentials
            let why = try #require(await pair.send(to: "dGVzdA==", at: address).withheld)
            #expect(why.contains("AuthKey_KEY4567890.p8"))
            #expect(pair.client.keyFileState(of: address.credentials) == .missing)
            #expect(pair.client.keyFileState(of: ClientAndSimulator.use.credentials) == .ok)
            address.environment = .production
            let other = await pair.send(to: "dGVzdA==", at: address).withheld
            #expect(other == "no endpoint is configured for this environment")
            #expect(pair.simulator.journal().isEmpty)
        }
    }

    @Test func `a refusal has its status, reason, time, request ID and Retry-After`() throws {
        let answer = APNsClient.read(
            HTTP2Response(
                status: 410, headers: [HTTP2Header("apns-request-id", "abc"), HTTP2Header("retry-after", "7")],
                body: Array(#"{"reason":"ExpiredToken","timestamp":1780000000500}"#.utf8)))
        let refusal = try #require(answer.refusal)
        #expect(refusal.status == 410)
        #expect(refusal.reason == .expiredToken)
        #expect(refusal.goneSince == Date(timeIntervalSince1970: 1_780_000_000.5))
        #expect(refusal.retryAfter == 7)
        #expect(refusal.requestID == "abc")
        // A refusal in an unknown form keeps its text, or else its status.
        for (status, body, reason) in [
            (503, #"{"reason":"Service Unavailable"}"#, "ServiceUnavailable"),
            (400, #"{"reason":"FeatureNotEnabled"}"#, "BroadcastFeatureNotEnabled"),
            (418, #"{"reason":"Teapot","timestamp":"1"}"#, "Teapot"),
            (502, "<html>bad gateway</html>", "HTTP502"), (500, "", "HTTP500"), (403, #"{"reason":""}"#, "HTTP403"),
            (403, #"{"reason":5}"#, "HTTP403"), (410, #"["reason"]"#, "HTTP410"),
        ] {
            let refusal = Self.answer(status, body).refusal
            #expect(refusal?.status == status, "\(body)")
            #expect(refusal?.reason.rawValue == reason, "\(body)")
            #expect(refusal?.goneSince == nil, "\(body)")
        }
    }

    @Test func `an accepted answer that cannot be read completely counts as unanswered, not as a shorter list`() {
        #expect(Self.answer(201, "").map(APNsClient.channelID).isUnanswered)
        for list in [
            "", "{}", "[]", #"{"channels":null}"#, #"{"channels":{}}"#, #"{"channels":["a",1]}"#,
            #"{"channels":["a""#, #"{"Channels":[]}"#,
        ] {
            #expect(Self.answer(200, list).map(APNsClient.channels).isUnanswered, "\(list)")
        }
        for channel in ["", "{}", #"{"message-storage-policy":7}"#, #"{"message-storage-policy":"1"}"#] {
            #expect(Self.answer(200, channel).map(APNsClient.storagePolicy).isUnanswered, "\(channel)")
        }
    }

    private static func answer(_ status: Int, _ body: String) -> APNsAnswer<HTTP2Response> {
        APNsClient.read(HTTP2Response(status: status, headers: [], body: Array(body.utf8)))
    }
}

/// Pushes to single devices as APNs receives them, and APNs' answers.
@Suite(.timeLimit(.minutes(20)))
struct DevicePushTests {
    private static let nobody = DeviceToken(bytes: Array(1...80)) ?? { preconditionFailure("a token") }()

    private static func push(_ priority: APNsPriority = .immediate) -> DevicePush {
        let now = Int(Date().timeIntervalSince1970)
        return DevicePush(
            token: nobody,
            body: BroadcastPayload(
                event: .start, contentState: Array(#"{"a":1.50e3}"#.utf8),
                alert: Array(#"{"title":"Kick-off","body":"Now"}"#.utf8),
                start: .init(
                    attributesType: Array(#""Match""#.utf8), attributes: Array(#"{"id":7}"#.utf8), input: .token)
            ).body(timestamp: now),
            priority: priority, expiration: now + 60, requestID: UUID(), collapseID: "start-7")
    }

    /// Priority 1 is only for channels, so it becomes 5.
    @Test(arguments: [(APNsPriority.immediate, "10"), (.lowest, "5")])
    func `a push has its own connection, its headers and its body unchanged`(priority: APNsPriority, sent: String)
        async throws
    {
        try await ClientAndSimulator.with { pair in
            try pair.simulator.setQuirk("unknown-device", to: "accepted")
            _ = try await pair.makeChannel()
            let push = Self.push(priority)
            _ = try await pair.client.push(push, to: ClientAndSimulator.address).value()
            let request = try #require(pair.simulator.journal().last).request
            #expect(request.method == "POST")
            #expect(request.path == "/3/device/" + Self.nobody.hex)
            #expect(request[header: "apns-topic"] == "com.example.Stadium.push-type.liveactivity")
            #expect(request[header: "apns-push-type"] == "liveactivity")
            #expect(request[header: "apns-priority"] == sent)
            #expect(request[header: "apns-expiration"] == String(push.expiration))
            #expect(request[header: "apns-collapse-id"] == "start-7")
            #expect(request[header: "apns-id"] == push.requestID.uuidString.lowercased())
            #expect(request.body == push.body)
            #expect(pair.connections.count == 2)
        }
    }

    @Test func `answers about tokens are counted by app, and other answers are not`() async throws {
        let metrics = ServerMetrics()
        try await ClientAndSimulator.with(settings: { $0.metrics = metrics }) { pair in
            func push() async -> APNsAnswer<Void> {
                await pair.client.push(Self.push(), to: ClientAndSimulator.address)
            }
            #expect(await push().refusal?.reason == .badDeviceToken)
            try pair.simulator.setQuirk("unknown-device", to: "accepted")
            for _ in 0..<2 { _ = await push() }
            try pair.refuse(.tooManyRequests)
            _ = await push()
            func count(_ result: String) -> Double {
                metrics.series("grandstand_token_answers_total", ["com.example.Stadium", "development", result]).value
            }
            #expect(count("BadDeviceToken") == 1)
            #expect(count("accepted") == 2)
            #expect(count("TooManyRequests") == 0)
        }
    }
}

/// What the client learns of an app from APNs' answers.
@Suite(.timeLimit(.minutes(20)))
struct QuirkLearnerTests {
    /// Collects what was learned.
    private final class Learned: Sendable {
        private let values = Mutex<[Contract.QuirkValue]>([])

        func take() -> [Contract.QuirkValue] {
            values.withLock { values in
                defer { values = [] }
                return values
            }
        }

        func note(_ value: Contract.QuirkValue) { values.withLock { $0.append(value) } }
    }

    private static func address(_ name: String = "com.example.Stadium", isOff: Bool = false) -> APNsAddress {
        var address = LoopSample.address(Sample.known(BundleID(rawValue: name)))
        address.isCapabilityOff = isOff
        return address
    }

    private static func learner(_ learned: Learned, fails: Bool = false) -> QuirkLearner {
        QuirkLearner(
            remember: { _, _, value, _ in
                if fails { throw CancellationError() }
                learned.note(value)
            })
    }

    typealias Case = (
        stored: Contract.QuirkValue, registered: APNsAnswer<Void>?, lowercased: APNsAnswer<Void>?,
        learns: Contract.QuirkValue?
    )

    /// The stored spelling, and APNs' answer to each spelling; `nil`: the spelling is not tried.
    private static let cases: [Case] = [
        // Another answer than a mismatch is final.
        (.registered, .ok, nil, nil), (.registered, .refusing(.cannotCreateChannelConfig), nil, nil),
        (.registered, .refusing(.topicMismatch), .ok, .lowercased),
        (.lowercased, .ok, .refusing(.topicMismatch), .registered),
        // Both spellings are refused, so the cause is another one.
        (.registered, .refusing(.topicMismatch), .refusing(.topicMismatch), nil),
        (.lowercased, .refusing(.topicMismatch), .refusing(.topicMismatch), nil),
        // APNs checks the topic first. So these two refusals show that it accepted the topic.
        (.registered, .refusing(.topicMismatch), .refusing(.channelNotRegistered), .lowercased),
        (.registered, .refusing(.topicMismatch), .refusing(.cannotCreateChannelConfig), .lowercased),
        (.registered, .refusing(.topicMismatch), .unanswered("lost"), nil),
        (.registered, .refusing(.topicMismatch), .refusing(.badRequestParams), nil),
    ]

    @Test func `after a TopicMismatch the other spelling is tried, and stored if APNs accepts it`() async {
        for test in Self.cases {
            for fails in [false, true] {
                let learned = Learned()
                var address = Self.address()
                address.managementPath = test.stored
                var tried: [Contract.QuirkValue] = []
                let answer = await Self.learner(learned, fails: fails).withSpelling(address) { address in
                    tried.append(address.managementPath)
                    return (address.managementPath == .registered ? test.registered : test.lowercased)
                        ?? .unsent("not expected")
                }
                var answers = [(Contract.QuirkValue.registered, test.registered), (.lowercased, test.lowercased)]
                if test.stored == .lowercased { answers.reverse() }
                answers.removeAll { $0.1 == nil }
                #expect(tried == answers.map(\.0), "\(test)")
                #expect("\(answer)" == answers.last?.1.map { "\($0)" }, "\(test)")
                #expect(learned.take() == (fails ? [] : [test.learns].compactMap(\.self)), "\(test)")
            }
        }
        // A bundle ID without capitals has only one spelling.
        let learned = Learned()
        var calls = 0
        _ = await Self.learner(learned).withSpelling(Self.address("com.example.stadium")) {
            _ -> APNsAnswer<Void> in
            calls += 1
            return .refusing(.topicMismatch)
        }
        #expect(calls == 1 && learned.take().isEmpty)
    }

    @Test func `a refusal because the capability is off raises the alarm, and a success ends it, once`() async {
        for (answer, isOff, learns) in [
            (APNsAnswer<Void>.refusing(.broadcastFeatureNotEnabled), false, Contract.QuirkValue.off),
            (.refusing(.broadcastFeatureNotEnabled), true, nil), (.ok, true, .on), (.ok, false, nil),
            (.refusing(.badPriority), true, nil), (.unanswered("lost"), true, nil), (.unsent("no key"), false, nil),
        ] {
            for fails in [false, true] {
                let learned = Learned()
                let given = await Self.learner(learned, fails: fails).learnCapability(Self.address(isOff: isOff)) {
                    _ in answer
                }
                #expect("\(given)" == "\(answer)")
                #expect(learned.take() == (fails ? [] : [learns].compactMap(\.self)), "\(answer)")
            }
        }
    }

    @Test func `each call of the client learns the capability, and each management call the spelling`() async throws {
        let learned = Learned()
        try await ClientAndSimulator.with(
            settings: { $0.remember = { _, _, value, _ in learned.note(value) } },
            options: { $0.quirks.capitals = .refused }
        ) { pair in
            let address = ClientAndSimulator.address
            let channelID = try await pair.makeChannel()
            #expect(learned.take() == [.lowercased])
            let calls: [@Sendable () async -> Void] = [
                { _ = await pair.send(to: channelID) },
                { _ = await pair.client.createChannel(.noMessageStored, at: address) },
                { _ = await pair.client.readChannel(channelID, at: address) },
                { _ = await pair.client.listChannels(at: address) },
                { _ = await pair.client.deleteChannel(channelID, at: address) },
            ]
            for (number, call) in calls.enumerated() {
                try pair.refuse(.broadcastFeatureNotEnabled)
                await call()
                #expect(learned.take() == [.off])
                await call()
                #expect(learned.take() == (number == 0 ? [] : [.lowercased]))
            }
            let accepted = pair.simulator.journal().filter { $0.status == 200 }.map(\.request.path)
            #expect(accepted.first == "/4/broadcasts/apps/com.example.Stadium")
        }
    }
}

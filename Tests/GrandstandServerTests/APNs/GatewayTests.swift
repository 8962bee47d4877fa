internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import HTTP2
internal import Testing

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
            let use = KeyUse(credentials: address.credentials, environment: address.environment)
            #expect(pair.client.keyFile(of: use).state == .missing)
            #expect(pair.client.keyFile(of: ClientAndSimulator.use).state == .ok)
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
        #expect(refusal.since == Date(timeIntervalSince1970: 1_780_000_000.5))
        #expect(refusal.retryAfter == 7)
        #expect(refusal.requestID == "abc")
    }

    @Test func `a refusal in an unknown form keeps its text, or else its status`() {
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
            #expect(refusal?.since == nil, "\(body)")
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

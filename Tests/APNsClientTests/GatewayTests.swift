internal import APNsClient
internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

/// The five APNs calls (send a broadcast; create, read, list and delete channels) as APNs receives them, and APNs'
/// answers as the service receives them.
@Suite(.timeLimit(.minutes(1)))
struct GatewayTests {
    @Test(arguments: StoragePolicy.allCases)
    func `a channel is created, read, listed and deleted`(_ policy: StoragePolicy) async throws {
        try await ClientAndSimulator.with { pair in
            let requestID = UUID()
            let created = await pair.client.createChannel(policy, at: ClientAndSimulator.address, requestID: requestID)
            let channelID = try created.value()
            #expect(created.receipt?.requestID == requestID.uuidString.lowercased())
            #expect(try await pair.client.readChannel(channelID, at: ClientAndSimulator.address).value() == policy)
            #expect(
                try await pair.client.listChannels(at: ClientAndSimulator.address).value().channelIDs == [channelID])
            var production = ClientAndSimulator.address
            production.environment = .production
            #expect(try await pair.client.listChannels(at: production).value().channelIDs == [])

            let deletionID = UUID()
            let deleted = await pair.client.deleteChannel(
                channelID, at: ClientAndSimulator.address, requestID: deletionID)
            #expect(deleted.receipt?.requestID == deletionID.uuidString.lowercased())
            #expect(try await pair.client.listChannels(at: ClientAndSimulator.address).value().channelIDs == [])
            #expect(
                await pair.client.readChannel(channelID, at: ClientAndSimulator.address).refusal?.reason
                    == .channelNotRegistered)
            // Observed live: a channel that is already deleted gets 404 BadPath.
            let again = await pair.client.deleteChannel(channelID, at: ClientAndSimulator.address, requestID: UUID())
                .refusal
            #expect(again?.status == 404)
            #expect(again?.reason == .badPath)

            let requests = pair.simulator.journal().map(\.request)
            #expect(
                Set(requests.map(\.path)) == [
                    "/1/apps/com.example.Stadium/channels", "/1/apps/com.example.Stadium/all-channels",
                ])
            let creation = try #require(requests.first)
            #expect(creation.method == "POST")
            #expect(
                creation.body
                    == Array(#"{"message-storage-policy":\#(policy.wireValue),"push-type":"LiveActivity"}"#.utf8))
            #expect(
                requests.filter { $0.method == "DELETE" }.allSatisfy {
                    $0[header: "apns-channel-id"] == channelID && $0.body.isEmpty
                })
            #expect(
                requests.allSatisfy {
                    $0[header: "apns-request-id"].map { UUID(uuidString: $0) != nil && $0 == $0.lowercased() } == true
                })
        }
    }

    @Test func `a broadcast has its headers and its body unchanged`() async throws {
        try await ClientAndSimulator.with { pair in
            let channelID = try await pair.makeChannel(.mostRecentMessageStored)
            let expiration = Int(Date().timeIntervalSince1970) + 60
            let message = ClientAndSimulator.message(to: channelID, expiration: expiration)
            let answer = await pair.client.send(message, to: ClientAndSimulator.address)
            #expect(answer.receipt?.requestID == message.requestID.uuidString.lowercased())
            #expect(answer.receipt?.uniqueID?.isEmpty == false)

            let sent = try #require(
                try await pair.simulator.requests(1) { $0.request.path.hasPrefix("/4/") }.first?.request)
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

    @Test func `management paths are lowercased if the app's address requires it, send paths never are`() async throws {
        try await ClientAndSimulator.with(options: { $0.capitals = .refused }) { pair in
            let refusal = await pair.client.createChannel(
                .noMessageStored, at: ClientAndSimulator.address, requestID: UUID()
            ).refusal
            #expect(refusal?.status == 403)
            #expect(refusal?.reason == .topicMismatch)
            var address = ClientAndSimulator.address
            address.managementPath = .lowercased
            let channelID = try await pair.client.createChannel(.noMessageStored, at: address, requestID: UUID())
                .value()
            #expect(try await pair.client.listChannels(at: address).value().channelIDs == [channelID])
            _ = try await pair.client.send(ClientAndSimulator.message(to: channelID), to: address).value()
            #expect(pair.simulator.journal().last?.request.path == "/4/broadcasts/apps/com.example.Stadium")
        }
    }

    @Test func `a refusal has its status, reason, request ID and Retry-After`() async throws {
        try await ClientAndSimulator.with { pair in
            var answer = SimulatorAnswer.refusal(.tooManyRequests)
            answer.headers.append(.init("retry-after", "7"))
            pair.simulator.answerNext(with: answer)
            let message = ClientAndSimulator.message(to: "dGVzdA==")
            let refusal = try #require(await pair.client.send(message, to: ClientAndSimulator.address).refusal)
            #expect(refusal.status == 429)
            #expect(refusal.reason == .tooManyRequests)
            #expect(refusal.retryAfter == 7)
            #expect(refusal.requestID == message.requestID.uuidString.lowercased())
        }
    }

    @Test(arguments: [
        (503, #"{"reason":"Service Unavailable"}"#, "ServiceUnavailable"),
        (400, #"{"reason":"FeatureNotEnabled"}"#, "BroadcastFeatureNotEnabled"),
        (418, #"{"reason":"Teapot","timestamp":1}"#, "Teapot"),
        (502, "<html>bad gateway</html>", "HTTP502"),
        (500, "", "HTTP500"),
        (403, #"{"reason":""}"#, "HTTP403"),
        (403, #"{"reason":5}"#, "HTTP403"),
        (410, #"["reason"]"#, "HTTP410"),
    ])
    func `a refusal in an unknown form keeps its text, or else its status`(
        _ status: Int, _ body: String, _ reason: String
    )
        async throws
    {
        try await ClientAndSimulator.with { pair in
            pair.simulator.answerNext(with: SimulatorAnswer(status: status, body: Array(body.utf8)))
            let refusal = await pair.client.send(
                ClientAndSimulator.message(to: "dGVzdA=="), to: ClientAndSimulator.address
            ).refusal
            #expect(refusal?.status == status)
            #expect(refusal?.reason.rawValue == reason)
        }
    }

    @Test func `a creation whose response has no channel ID counts as unanswered`() async throws {
        try await ClientAndSimulator.with { pair in
            pair.simulator.answerNext(with: SimulatorAnswer(status: 201))
            #expect(
                await pair.client.createChannel(.noMessageStored, at: ClientAndSimulator.address, requestID: UUID())
                    .isUnanswered)
        }
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"channels":null}"#, #"{"channels":{}}"#, #"{"channels":["a",1]}"#, #"{"channels":["a""#,
        #"{"Channels":[]}"#,
    ])
    func `a channel list that cannot be read completely counts as unanswered, not as a shorter list`(_ body: String)
        async throws
    {
        try await ClientAndSimulator.with { pair in
            pair.simulator.answerNext(with: SimulatorAnswer(status: 200, body: Array(body.utf8)))
            let answer = await pair.client.listChannels(at: ClientAndSimulator.address)
            #expect(answer.isUnanswered, "\(answer)")
        }
    }

    @Test(arguments: ["", "{}", #"{"message-storage-policy":7}"#, #"{"message-storage-policy":"1"}"#])
    func `reading a channel counts as unanswered if its storage policy is unknown`(_ body: String) async throws {
        try await ClientAndSimulator.with { pair in
            pair.simulator.answerNext(with: SimulatorAnswer(status: 200, body: Array(body.utf8)))
            #expect(await pair.client.readChannel("dGVzdA==", at: ClientAndSimulator.address).isUnanswered)
        }
    }
}

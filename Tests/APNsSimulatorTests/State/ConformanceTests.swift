internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Testing

/// APNs' answer to each kind of request.
struct ConformanceTests {
    @Test(arguments: cases)
    func `each request gets its status and reason`(_ row: ConformanceCase) throws {
        var bench = try Bench()
        try bench.addChannels()
        let headers = row.headers.mapValues {
            $0.replacing("{none}", with: bench.none).replacing("{stored}", with: bench.stored)
                .replacing("{deleted}", with: bench.deleted)
        }
        let answer = try bench.send(row.method, row.path, headers, row.body)

        #expect(answer.status == row.status)
        #expect(answer.reason == row.reason)
        #expect(answer[header: "apns-request-id"]?.count == 36)
        if let reason = row.reason {
            #expect(String(decoding: answer.body, as: UTF8.self) == #"{"reason":"\#(reason)"}"#)
            #expect(row.status == reason.status)
        }
    }

    static let cases = paths + headers + creations + channels + broadcastHeaders + broadcastBodies

    private static let app = "/1/apps/com.example.scores"

    static let paths: [ConformanceCase] = [
        .any("list", "GET", "\(app)/all-channels", 200),
        .any("no such path", "GET", "/", 404, .badPath),
        .any("no such path, no token", "GET", "/1/apps", with: ["authorization": ""], 404, .badPath),
        .any("another version", "POST", "/3/broadcasts/apps/com.example.scores", 404, .badPath),
        .any("channel ID in the path", "GET", "\(app)/channels/AAAA", 404, .badPath),
        .any("trailing slash", "GET", "\(app)/all-channels/", 404, .badPath),
        .any("query", "GET", "\(app)/all-channels?limit=1", 404, .badPath),
        .any("no bundle ID", "GET", "/1/apps//all-channels", 404, .badPath),
        .any("bundle ID outside its alphabet", "GET", "/1/apps/com.ex%61mple/all-channels", 404, .badPath),
        .any(
            "GET on broadcasts, before the token", "GET", "/4/broadcasts/apps/com.example.scores",
            with: ["authorization": ""], 405, .methodNotAllowed),
        .any("PUT on channels", "PUT", "\(app)/channels", 405, .methodNotAllowed),
        .any("POST on all-channels", "POST", "\(app)/all-channels", 405, .methodNotAllowed),
        .any(
            "push-type suffix", "GET", "/1/apps/com.example.scores.push-type.liveactivity/all-channels", 400,
            .topicDisallowed),
        .any("capitals on a management path", "GET", "/1/apps/com.example.Scores/all-channels", 403, .topicMismatch),
    ]

    static let headers: [ConformanceCase] = [
        .any("no token", "GET", "\(app)/all-channels", with: ["authorization": ""], 403, .missingProviderToken),
        .any(
            "basic authentication", "GET", "\(app)/all-channels", with: ["authorization": "basic abc"], 403,
            .missingProviderToken),
        .any(
            "bearer without a token", "GET", "\(app)/all-channels", with: ["authorization": "bearer "], 403,
            .missingProviderToken),
        .any(
            "nonsense as token", "GET", "\(app)/all-channels", with: ["authorization": "bearer abc"], 403,
            .invalidProviderToken),
        .any(
            "request id", "GET", "\(app)/all-channels",
            with: ["apns-request-id": "0f8b1a2c-3d4e-5f60-7182-93a4b5c6d7e8"], 200),
        .any(
            "request id in capitals", "GET", "\(app)/all-channels",
            with: ["apns-request-id": "0F8B1A2C-3D4E-5F60-7182-93A4B5C6D7E8"], 400, .badMessageId),
        .any(
            "request id that is no UUID", "GET", "\(app)/all-channels", with: ["apns-request-id": "42"], 400,
            .badMessageId),
        .any(
            "token before request id", "GET", "\(app)/all-channels",
            with: ["authorization": "", "apns-request-id": "42"], 403, .missingProviderToken),
    ]

    static let creations: [ConformanceCase] = [
        .create("nothing stored", #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#, 201),
        .create("newest stored", #" { "push-type" : "LiveActivity", "message-storage-policy" : 1 } "#, 201),
        .create("empty body", "", 400, .badRequestPayload),
        .create("no JSON", "{", 400, .badRequestPayload),
        .create("no object", "[0]", 400, .badRequestPayload),
        .create("two objects", "{}{}", 400, .badRequestPayload),
        .create("empty object", "{}", 400, .missingChannelQueueSize),
        .create(
            "unknown key", #"{"message-storage-policy":0,"push-type":"LiveActivity","name":"x"}"#, 400,
            .badRequestParams),
        .create(
            "unknown policy", #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, 400,
            .missingChannelQueueSize),
        .create(
            "fractional policy", #"{"message-storage-policy":0.5,"push-type":"LiveActivity"}"#, 400,
            .missingChannelQueueSize),
        .create(
            "policy as a string", #"{"message-storage-policy":"1","push-type":"LiveActivity"}"#, 400,
            .badRequestParams),
        .create("policy null", #"{"message-storage-policy":null,"push-type":"LiveActivity"}"#, 400, .badRequestParams),
        .create("no push type", #"{"message-storage-policy":1}"#, 400, .missingPushType),
        .create(
            "push type in lowercase", #"{"message-storage-policy":1,"push-type":"liveactivity"}"#, 400,
            .invalidPushType),
        .create("push type a number", #"{"message-storage-policy":1,"push-type":1}"#, 400, .invalidPushType),
    ]

    static let channels: [ConformanceCase] = [
        .channel("GET", "a channel", ["apns-channel-id": "{none}"], 200),
        .channel("GET", "no ID", [:], 400, .missingChannelId),
        .channel("GET", "not base64", ["apns-channel-id": "***"], 400, .badChannelId),
        .channel("GET", "too long", ["apns-channel-id": String(repeating: "AAAA", count: 65)], 400, .badChannelId),
        .channel("GET", "never issued", ["apns-channel-id": "dHN0LXNyY2gtY2hubA=="], 400, .badChannelId),
        .channel("GET", "deleted", ["apns-channel-id": "{deleted}"], 400, .channelNotRegistered),
        .channel("DELETE", "a channel", ["apns-channel-id": "{stored}"], 204),
        .channel("DELETE", "no ID", [:], 400, .missingChannelId),
        .channel("DELETE", "not base64", ["apns-channel-id": "***"], 400, .badChannelId),
        .channel("DELETE", "never issued", ["apns-channel-id": "dHN0LXNyY2gtY2hubA=="], 404, .badPath),
        .channel("DELETE", "deleted", ["apns-channel-id": "{deleted}"], 404, .badPath),
    ]

    static let broadcastHeaders: [ConformanceCase] = [
        .broadcast("stored at once", 200),
        .broadcast("stored until", with: ["apns-expiration": "1780003600"], 200),
        .broadcast("stored beyond 8 h", with: ["apns-expiration": "1790000000"], 200),
        .broadcast("stored, expiration gone by", with: ["apns-expiration": "1"], 200),
        .broadcast("not stored", with: ["apns-channel-id": "{none}"], 200),
        .broadcast("no channel ID", with: ["apns-channel-id": ""], 400, .missingChannelId),
        .broadcast("channel ID not base64", with: ["apns-channel-id": "a"], 400, .badChannelId),
        .broadcast("channel ID in base64url", with: ["apns-channel-id": "_-_-"], 400, .badChannelId),
        .broadcast("channel never issued", with: ["apns-channel-id": "dHN0LXNyY2gtY2hubA=="], 400, .badChannelId),
        .broadcast("channel deleted", with: ["apns-channel-id": "{deleted}"], 400, .channelNotRegistered),
        .broadcast("no push type", with: ["apns-push-type": ""], 400, .missingPushType),
        .broadcast("another push type", with: ["apns-push-type": "alert"], 400, .invalidPushType),
        .broadcast("push type as in Apple's table", with: ["apns-push-type": "Liveactivity"], 200),
        .broadcast("no expiration", with: ["apns-expiration": ""], 400, .badExpirationDate),
        .broadcast("expiration negative", with: ["apns-expiration": "-1"], 400, .badExpirationDate),
        .broadcast("expiration with a sign", with: ["apns-expiration": "+1"], 400, .badExpirationDate),
        .broadcast("expiration no number", with: ["apns-expiration": "soon"], 400, .badExpirationDate),
        .broadcast(
            "expiration of no machine", with: ["apns-expiration": "99999999999999999999"], 400, .badExpirationDate),
        .broadcast(
            "expiration where nothing is stored", with: ["apns-channel-id": "{none}", "apns-expiration": "1780003600"],
            400, .badExpirationDate),
        .broadcast("priority 1", with: ["apns-priority": "1"], 200),
        .broadcast("priority 10", with: ["apns-priority": "10"], 200),
        .broadcast("no priority", with: ["apns-priority": ""], 400, .badPriority),
        .broadcast("priority 7", with: ["apns-priority": "7"], 400, .badPriority),
        .broadcast("priority no number", with: ["apns-priority": "high"], 400, .badPriority),
        .broadcast(
            "channel before the other headers",
            with: ["apns-channel-id": "", "apns-push-type": "", "apns-priority": "7"], body: "", 400, .missingChannelId),
        .broadcast("headers before the body", with: ["apns-priority": "7"], body: "", 400, .badPriority),
    ]

    static let broadcastBodies: [ConformanceCase] = [
        .broadcast("end", body: #"{"aps":{"timestamp":1,"event":"end"}}"#, 200),
        .broadcast("end with a state", body: #"{"aps":{"timestamp":1,"event":"end","content-state":{}}}"#, 200),
        .broadcast("custom keys beside aps", body: #"{"x":[1],"aps":{"timestamp":1,"event":"end"}}"#, 200),
        .broadcast("unknown keys in aps", body: #"{"aps":{"timestamp":1,"event":"end","x":{"y":[null,true]}}}"#, 200),
        .broadcast("alert", body: #"{"aps":{"timestamp":1,"event":"end","alert":{"title":"Gol\u26bd"}}}"#, 200),
        .broadcast(
            "dates and score",
            body: #"{"aps":{"timestamp":1,"event":"end","stale-date":2,"dismissal-date":3,"relevance-score":1.5e2}}"#,
            200),
        .broadcast("5,120 bytes", body: padded(to: 5_120), 200),
        .broadcast("5,121 bytes", body: padded(to: 5_121), 413, .payloadTooLarge),
        .broadcast("empty", body: "", 400, .payloadEmpty),
        .broadcast("no JSON", body: "score: 1", 400, .badRequestPayload),
        .broadcast("no aps", body: #"{"alert":"x"}"#, 400, .badRequestPayload),
        .broadcast("aps no object", body: #"{"aps":[]}"#, 400, .badRequestPayload),
        .broadcast("no timestamp", body: #"{"aps":{"event":"end"}}"#, 400, .badRequestPayload),
        .broadcast("timestamp a string", body: #"{"aps":{"timestamp":"1","event":"end"}}"#, 400, .badRequestPayload),
        .broadcast(
            "timestamp with a fraction", body: #"{"aps":{"timestamp":1.5,"event":"end"}}"#, 400,
            .badRequestPayload),
        .broadcast("no event", body: #"{"aps":{"timestamp":1,"content-state":{}}}"#, 400, .badRequestPayload),
        .broadcast(
            "start", body: #"{"aps":{"timestamp":1,"event":"start","content-state":{}}}"#, 400,
            .badRequestPayload),
        .broadcast(
            "update without a state", body: #"{"aps":{"timestamp":1,"event":"update"}}"#, 400,
            .badRequestPayload),
        .broadcast(
            "state no object", body: #"{"aps":{"timestamp":1,"event":"end","content-state":"x"}}"#, 400,
            .badRequestPayload),
        .broadcast(
            "alert a number", body: #"{"aps":{"timestamp":1,"event":"end","alert":1}}"#, 400,
            .badRequestPayload),
        .broadcast(
            "stale date as text", body: #"{"aps":{"timestamp":1,"event":"end","stale-date":"2026"}}"#, 400,
            .badRequestPayload),
    ]

    private static func padded(to size: Int) -> String {
        let frame = #"{"aps":{"timestamp":1,"event":"update","content-state":{"x":""}}}"#
        return frame.replacing(#""x":"""#, with: "\"x\":\"\(String(repeating: "x", count: size - frame.utf8.count))\"")
    }
}

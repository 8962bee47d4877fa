internal import APNsSimulator
internal import Foundation
internal import Testing

/// What is wrong with a request is told with its place; nothing is stored, and the process goes on.
@Suite(.timeLimit(.minutes(5)))
struct BadInputTests {
    struct Refusal: Sendable, CustomStringConvertible {
        let description: String
        var method = "POST"
        var path = "/v1/events/derby/broadcasts"
        var body: Data?
        var headers: [String: String] = [:]
        let status: Int
        let slug: String
        /// Places the answer must point at, all of them.
        var pointers: [String] = []
        /// What the detail must contain.
        var hint = ""

        init(
            _ description: String, _ method: String = "POST", _ path: String = "/v1/events/derby/broadcasts",
            _ body: String? = nil, bytes: [UInt8]? = nil, headers: [String: String] = [:], status: Int, slug: String,
            pointers: [String] = [], hint: String = ""
        ) {
            self.description = description
            self.method = method
            self.path = path
            self.body = bytes.map { Data($0) } ?? body.map { Data($0.utf8) }
            self.headers = headers
            self.status = status
            self.slug = slug
            self.pointers = pointers
            self.hint = hint
        }
    }

    private static let broadcasts = "/v1/events/derby/broadcasts"
    private static let event = "/v1/events/new"
    private static let app = "/v1/apps/com.example.New"
    private static let channels = "/v1/apps/com.example.Stadium/development/channels"

    private static func audience(_ bundleID: String, _ environment: String, _ policy: String) -> String {
        #"{"name": "x", "audiences": [{"bundleId": "\#(bundleID)", "environment": "\#(environment)", "storagePolicy": "\#(policy)"}]}"#
    }

    static let malformed: [Refusal] = [
        .init(
            "half an object", "POST", broadcasts, #"{"event": "update", "contentState": {"a": 1"#, status: 400,
            slug: "malformed-json"),
        .init("a comma too many", "PUT", event, #"{"name": "x",}"#, status: 400, slug: "malformed-json"),
        .init("nothing", "PUT", event, "", status: 400, slug: "malformed-json"),
        .init("two values", "PUT", app, "{} {}", status: 400, slug: "malformed-json"),
        .init(
            "a number JSON has not", "POST", broadcasts, #"{"event": "update", "contentState": {"deep": [0, 01]}}"#,
            status: 400, slug: "malformed-json", pointers: ["/contentState/deep"], hint: "line 1, column 51"),
        .init(
            "a name twice", "POST", broadcasts, #"{"event": "update", "contentState": {}, "event": "end"}"#,
            status: 400, slug: "malformed-json", hint: "event"),
        .init(
            "invalid UTF-8", "POST", broadcasts,
            bytes: Array(#"{"event": "update", "contentState": {"a": ""#.utf8) + [0xC3, 0x28] + Array(#""}}"#.utf8),
            status: 400, slug: "malformed-json", hint: "UTF-8"),
        .init(
            "2,000 levels of arrays", "POST", broadcasts,
            #"{"event": "update", "contentState": {"a": \#(String(repeating: "[", count: 2_000))\#(String(repeating: "]", count: 2_000))}}"#,
            status: 400, slug: "malformed-json", hint: "nested"),
        .init(
            "2,000 levels of objects", "PUT", event,
            String(repeating: #"{"a":"#, count: 2_000) + "1" + String(repeating: "}", count: 2_000), status: 400,
            slug: "malformed-json", hint: "nested"),
        .init(
            "70 KB", "POST", broadcasts,
            #"{"event": "update", "contentState": {"a": "\#(String(repeating: "x", count: 70_000))"}}"#, status: 413,
            slug: "body-too-large"),
        .init(
            "70 KB for an app", "PUT", app, #"{"name": "\#(String(repeating: "x", count: 70_000))"}"#, status: 413,
            slug: "body-too-large"),
        .init(
            "a message beyond 5,120 bytes", "POST", broadcasts,
            #"{"event": "update", "contentState": {"a": "\#(String(repeating: "x", count: 5_100))"}}"#, status: 413,
            slug: "payload-too-large", hint: "5120"),
        .init(
            "text", "POST", broadcasts, "{}", headers: ["Content-Type": "text/plain"], status: 415,
            slug: "unsupported-media-type"),
        .init(
            "a form", "PUT", event, "a=b", headers: ["Content-Type": "application/x-www-form-urlencoded"], status: 415,
            slug: "unsupported-media-type"),
    ]

    static let invalid: [Refusal] = [
        .init("no object", "PUT", event, "[]", status: 422, slug: "invalid-request"),
        .init(
            "an unknown field", "POST", broadcasts, #"{"event": "update", "contentstate": {}, "contentState": {}}"#,
            status: 422, slug: "unknown-field", pointers: ["/contentstate"]),
        .init(
            "an unknown field within", "PUT", event,
            #"{"name": "x", "audiences": [{"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "noMessageStored", "policy": 1}]}"#,
            status: 422, slug: "unknown-field", pointers: ["/audiences/0/policy"]),
        .init(
            "no contentState", "POST", broadcasts, #"{"event": "update"}"#, status: 422, slug: "invalid-request",
            pointers: ["/contentState"]),
        .init(
            "contentState no object", "POST", broadcasts, #"{"event": "update", "contentState": [1]}"#, status: 422,
            slug: "invalid-request", pointers: ["/contentState"]),
        .init(
            "an unknown kind of event", "POST", broadcasts, #"{"event": "start", "contentState": {}}"#, status: 422,
            slug: "invalid-request", pointers: ["/event"]),
        .init(
            "wrong types", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "priority": "10", "expiresIn": 1.5, "sendAt": 5, "relevanceScore": "1", "alert": "Goal"}"#,
            status: 422, slug: "invalid-request",
            pointers: ["/priority", "/expiresIn", "/sendAt", "/relevanceScore", "/alert"]),
        .init(
            "a priority that is none", "POST", broadcasts, #"{"event": "update", "contentState": {}, "priority": 7}"#,
            status: 422, slug: "invalid-request", pointers: ["/priority"]),
        .init(
            "a dismissal with an update", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "dismissalDate": "2030-01-01T00:00:00Z"}"#, status: 422,
            slug: "invalid-request", pointers: ["/dismissalDate"]),
        .init(
            "an alert that shows nothing", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "alert": {}}"#, status: 422, slug: "invalid-request",
            pointers: ["/alert"]),
        .init(
            "an alert that only sounds", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "alert": {"title": "", "body": null, "sound": "goal.caf"}}"#,
            status: 422, slug: "invalid-request", pointers: ["/alert"]),
        .init(
            "a dismissal that Apple does not wait for", "POST", broadcasts,
            #"{"event": "end", "dismissalDate": "2099-01-01T00:00:00Z"}"#, status: 422, slug: "invalid-request",
            pointers: ["/dismissalDate"]),
        .init(
            "an alert with a wrong title", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "alert": {"title": 1, "body": {"loc-args": []}}}"#, status: 422,
            slug: "invalid-request", pointers: ["/alert/title", "/alert/body/loc-key"]),
        .init(
            "an audience the event lacks", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "audiences": [{"bundleId": "com.example.Stadium", "environment": "production"}]}"#,
            status: 422, slug: "invalid-request", pointers: ["/audiences/0"]),
        .init(
            "no audiences", "PUT", event, #"{"name": "x", "audiences": []}"#, status: 422, slug: "invalid-request",
            pointers: ["/audiences"]),
        .init(
            "an unknown app", "PUT", event, audience("com.example.Nobody", "production", "noMessageStored"),
            status: 422, slug: "invalid-request", pointers: ["/audiences/0/bundleId"]),
        .init(
            "a bundle ID out of its alphabet", "PUT", event,
            audience("com.example.Stadion!", "production", "noMessageStored"), status: 422, slug: "invalid-request",
            pointers: ["/audiences/0/bundleId"]),
        .init(
            "an unknown environment", "PUT", event, audience("com.example.Stadium", "staging", "noMessageStored"),
            status: 422, slug: "invalid-request", pointers: ["/audiences/0/environment"]),
        .init(
            "an unknown policy", "PUT", event, audience("com.example.Stadium", "production", "1"), status: 422,
            slug: "invalid-request", pointers: ["/audiences/0/storagePolicy"]),
        .init(
            "two policies", "PUT", event,
            #"{"name": "x", "audiences": [{"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "noMessageStored"}, {"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "mostRecentMessageStored"}]}"#,
            status: 422, slug: "invalid-request", pointers: ["/audiences/1/environment"]),
        .init(
            "an end before the start", "PUT", event,
            #"{"name": "x", "startsAt": "2030-01-02T00:00:00Z", "endsAt": "2030-01-01T00:00:00Z", "audiences": [{"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "noMessageStored"}]}"#,
            status: 422, slug: "invalid-request", pointers: ["/endsAt"]),
        .init(
            "an event key out of its alphabet", "PUT", "/v1/events/a%20b",
            audience("com.example.Stadium", "production", "noMessageStored"), status: 422, slug: "invalid-request"),
        .init(
            "an event key too long", "PUT", "/v1/events/" + String(repeating: "k", count: 129),
            audience("com.example.Stadium", "production", "noMessageStored"), status: 422, slug: "invalid-request"),
        .init(
            "a bundle ID with a slash", "PUT", "/v1/apps/com%2Fexample",
            #"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1"}"#, status: 422, slug: "invalid-request"),
        .init(
            "a bundle ID with a push type", "PUT", "/v1/apps/com.example.push-type.liveactivity",
            #"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1"}"#, status: 422, slug: "invalid-request"),
        .init(
            "a team ID too short", "PUT", app, #"{"name": "x", "teamId": "SIM", "keyId": "SIMULATOR1"}"#, status: 422,
            slug: "invalid-request", pointers: ["/teamId"]),
        .init(
            "a limit beyond Apple's", "PUT", app,
            #"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1", "channelLimit": 10001}"#, status: 422,
            slug: "invalid-request", pointers: ["/channelLimit"]),
        .init(
            "an unknown environment of an app", "PUT", app,
            #"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1", "environments": {"sandbox": {}}}"#,
            status: 422, slug: "unknown-field", pointers: ["/environments/sandbox"]),
        .init(
            "the same app in another case", "PUT", "/v1/apps/com.example.stadium",
            #"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1"}"#, status: 409, slug: "app-exists"),
        .init(
            "a channel without policy", "POST", channels, "{}", status: 422, slug: "invalid-request",
            pointers: ["/storagePolicy"]),
        .init(
            "a policy as a number", "POST", channels, #"{"storagePolicy": 1}"#, status: 422, slug: "invalid-request",
            pointers: ["/storagePolicy"]),
        .init(
            "a page of 201", "GET", "/v1/events?limit=201", status: 422, slug: "invalid-request", pointers: ["limit"]),
        .init("a cursor that is none", "GET", "/v1/events?cursor=xyz", status: 422, slug: "invalid-request"),
        .init(
            "an unknown query", "GET", "/v1/events?sort=name", status: 422, slug: "unknown-field", pointers: ["sort"]),
    ]

    static let absent: [Refusal] = [
        .init("an unknown path", "GET", "/v1/nothing", status: 404, slug: "not-found"),
        .init("the root", "GET", "/", status: 404, slug: "not-found"),
        .init(
            "an unknown environment in a path", "GET", "/v1/lookup/com.example.Stadium/staging/derby", status: 404,
            slug: "not-found"),
        .init("an unknown event", "GET", "/v1/events/none", status: 404, slug: "event-not-found"),
        .init(
            "an update for an unknown event", "POST", "/v1/events/none/broadcasts",
            #"{"event": "update", "contentState": {}}"#, status: 404, slug: "event-not-found"),
        .init("an unknown app", "GET", "/v1/apps/com.example.Nobody", status: 404, slug: "app-not-found"),
        .init(
            "a channel for an unknown app", "POST", "/v1/apps/com.example.Nobody/production/channels",
            #"{"storagePolicy": "noMessageStored"}"#, status: 404, slug: "app-not-found"),
        .init(
            "an unknown channel", "GET", channels + "/11111111-2222-4333-8444-555555555555", status: 404,
            slug: "channel-not-found"),
        .init(
            "a channel ID of Apple's in a path", "GET", channels + "/dHN0LXNyY2gtY2hubA%3D%3D", status: 404,
            slug: "channel-not-found"),
        .init(
            "an unknown broadcast", "GET", "/v1/broadcasts/11111111-2222-4333-8444-555555555555", status: 404,
            slug: "broadcast-not-found"),
        .init("a broadcast that is no UUID", "GET", "/v1/broadcasts/1", status: 404, slug: "broadcast-not-found"),
        .init(
            "an event of another app", "GET", "/v1/lookup/com.example.Nobody/development/derby", status: 404,
            slug: "event-not-found"),
        .init("a wrong method", "PATCH", "/v1/events/derby", "{}", status: 405, slug: "method-not-allowed"),
    ]

    @Test func `malformed bodies`() async throws { try await check(Self.malformed) }

    @Test func `invalid values`() async throws { try await check(Self.invalid) }

    @Test func `what is not there`() async throws { try await check(Self.absent) }

    /// Every refusal is a problem document at the right place, and afterwards everything is as it was.
    private func check(_ refusals: [Refusal]) async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let before = try await Self.contents(stage)
            let asked = stage.simulator.journal().count
            for refusal in refusals {
                let answer = try await stage.api(
                    refusal.method, refusal.path, bytes: refusal.body, headers: refusal.headers)
                #expect(answer.status == refusal.status, "\(refusal): \(answer.text)")
                #expect(answer.slug == refusal.slug, "\(refusal): \(answer.text)")
                #expect(answer.headers["content-type"] == "application/problem+json", "\(refusal)")
                let problem = answer.json
                #expect(problem["type"]?.string == "https://grandstand.dev/problems/\(refusal.slug)")
                #expect(problem["title"]?.string?.isEmpty == false, "\(refusal)")
                #expect(problem["status"]?.int == refusal.status, "\(refusal)")
                #expect(problem["detail"]?.string?.isEmpty == false, "\(refusal)")
                #expect(problem["requestId"]?.string == answer.headers["x-request-id"], "\(refusal)")
                #expect(Set(refusal.pointers).isSubset(of: Set(answer.pointers)), "\(refusal): \(answer.text)")
                #expect(refusal.hint.isEmpty || answer.text.contains(refusal.hint), "\(refusal): \(answer.text)")
            }
            #expect(try await Self.contents(stage) == before)
            #expect(stage.simulator.journal().count == asked)
            #expect(try await stage.api("GET", "/readyz").status == 200)
            let id = try await stage.broadcast(#"{"event": "update", "contentState": {}}"#)
            #expect(try await stage.settled(id).deliveryStates == ["accepted"])
        }
    }

    /// Everything that can be listed.
    private static func contents(_ stage: Stage) async throws -> [JSON] {
        var contents: [JSON] = []
        for path in ["/v1/apps", "/v1/events", broadcasts, channels, "/v1/events/derby"] {
            contents.append(try await stage.api("GET", path).json)
        }
        return contents
    }

    @Test func `a wrong method is answered with the right ones`() async throws {
        try await Stage.with { stage in
            let answers = [
                ("PATCH", "/v1/events/derby", ["DELETE", "GET", "PUT"]), ("DELETE", "/v1/quotas", ["GET"]),
                ("PUT", "/v1/events/derby/broadcasts", ["GET", "POST"]), ("POST", "/healthz", ["GET"]),
            ]
            for (method, path, allowed) in answers {
                let answer = try await stage.api(method, path)
                #expect(answer.status == 405, "\(method) \(path)")
                let methods = answer.headers["allow"]?.split(separator: ",").map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                #expect(methods?.sorted() == allowed, "\(method) \(path)")
            }
        }
    }
}

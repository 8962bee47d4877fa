internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandHTTP

/// Faults in requests. The answer names the place of each one (a JSON pointer or a parameter), and no store is called.
struct RefusalTests {
    private static let broadcasts = "/v1/events/derby/broadcasts"
    private static let event = "/v1/events/new"
    private static let id = "11111111-2222-4333-8444-555555555555"
    private static let app = "/v1/apps/com.example.New"

    private static func audience(_ bundleID: String, _ environment: String, _ policy: String) -> String {
        #"{"name": "x", "audiences": [{"bundleId": "\#(bundleID)", "environment": "\#(environment)", "storagePolicy": "\#(policy)"}]}"#
    }
    private static let item = #"{"eventKey": "derby", "event": "update", "contentState": {}}"#

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
            "text", "POST", broadcasts, "{}", headers: ["Content-Type": "text/plain"], status: 415,
            slug: "unsupported-media-type"),
        .init(
            "a form", "PUT", event, "a=b", headers: ["Content-Type": "application/x-www-form-urlencoded"], status: 415,
            slug: "unsupported-media-type"),
        .init(
            "half a batch", "POST", "/v1/broadcasts", #"{"items": [\#(item)"#, status: 400, slug: "malformed-json"),
        .init(
            "4 MB and more", "POST", "/v1/broadcasts",
            #"{"items": [\#(item)], "x": "\#(String(repeating: "x", count: 4 * 1024 * 1024))"}"#, status: 413,
            slug: "body-too-large"),
        .init(
            "two million zeros", "POST", "/v1/broadcasts",
            #"{"items": [\#(String(repeating: "0,", count: 2_000_000))0]}"#, status: 413, slug: "body-too-large",
            hint: #""limit":250000"#),
    ]

    static let invalid: [Refusal] = [
        .init(
            "NUL in a query", "GET", "/v1/events?kind=a%00b", slug: "invalid-request", pointers: ["kind"],
            hint: "U+0000"),
        .init(
            "NUL as a cursor", "GET", "/v1/audit-log?cursor=%00", slug: "invalid-request", pointers: ["cursor"],
            hint: "U+0000"),
        .init("NUL in a name", "PUT", app, #"{"name": "a\u0000b"}"#, pointers: ["/name"], hint: "Control"),
        .init(
            "NUL in a kind", "PUT", event, #"{"name": "x", "kind": "\u0000", "audiences": []}"#,
            pointers: ["/kind", "/audiences"]),
        .init("NUL as an event key", "GET", "/v1/events/%00", status: 404, slug: "event-not-found"),
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
            "a sendAt object without afterStart and with an unknown member", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "sendAt": {"before": 600}}"#, status: 422, slug: "unknown-field",
            pointers: ["/sendAt/before", "/sendAt/afterStart"]),
        .init(
            "a time from the start that is beyond a year", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "sendAt": {"afterStart": 31536001}}"#, status: 422,
            slug: "invalid-request", pointers: ["/sendAt/afterStart"]),
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
            "an alert with a wrong title", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "alert": {"title": 1, "body": {"loc-args": []}}}"#, status: 422,
            slug: "invalid-request", pointers: ["/alert/title", "/alert/body/loc-key"]),
        .init(
            "no audiences", "PUT", event, #"{"name": "x", "audiences": []}"#, status: 422, slug: "invalid-request",
            pointers: ["/audiences"]),
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
            "a page of 201", "GET", "/v1/events?limit=201", status: 422, slug: "invalid-request", pointers: ["limit"]),
        .init(
            "an unknown query", "GET", "/v1/events?sort=name", status: 422, slug: "unknown-field", pointers: ["sort"]),
        .init(
            "a page of nothing, of an app's events", "GET", "/v1/events?bundleId=com.example.Stadium&limit=0",
            status: 422, slug: "invalid-request", pointers: ["limit"]),
        .init(
            "an unknown state, of an app's events", "GET", "/v1/events?bundleId=com.example.Stadium&state=gone",
            status: 422, slug: "invalid-request", pointers: ["state"]),
        .init(
            "an expiry of no time", "POST", broadcasts, #"{"event": "update", "contentState": {}, "expiresIn": 0}"#,
            status: 422, slug: "invalid-request", pointers: ["/expiresIn"]),
        .init(
            "an expiry beyond eight hours", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "expiresIn": 28801}"#, status: 422, slug: "invalid-request",
            pointers: ["/expiresIn"]),
        .init(
            "two expiries", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "expiresIn": 60, "apnsExpiration": 0}"#, status: 422,
            slug: "invalid-request", pointers: ["/apnsExpiration"]),
        .init(
            "an idempotency key too long", "POST", broadcasts, #"{"event": "update", "contentState": {}}"#,
            headers: ["Idempotency-Key": String(repeating: "x", count: 256)], status: 422, slug: "invalid-request",
            pointers: ["Idempotency-Key"]),
        .init("a batch without items", "POST", "/v1/broadcasts", "{}", status: 422, slug: "invalid-request"),
        .init("a batch of nothing", "POST", "/v1/broadcasts", #"{"items": []}"#, status: 422, slug: "invalid-request"),
        .init(
            "a batch of 501", "POST", "/v1/broadcasts",
            #"{"items": [\#(Array(repeating: item, count: 501).joined(separator: ","))]}"#, status: 422,
            slug: "invalid-request", pointers: ["/items"]),
        .init(
            "a batch with a member besides items", "POST", "/v1/broadcasts", #"{"items": [\#(item)], "x": 1}"#,
            status: 422,
            slug: "unknown-field", pointers: ["/x"]),
        .init("no batch", "POST", "/v1/broadcasts", "[]", status: 422, slug: "invalid-request"),
    ]

    static let absent: [Refusal] = [
        .init("an unknown path", "GET", "/v1/nothing", status: 404, slug: "not-found"),
        .init("the root", "GET", "/", status: 404, slug: "not-found"),
        .init("a broadcast that is no UUID", "GET", "/v1/broadcasts/1", status: 404, slug: "broadcast-not-found"),
        .init("a wrong method", "POST", "/v1/events/derby", "{}", status: 405, slug: "method-not-allowed"),
        .init(
            "an environment that is none", "POST", "/v1/apps/com.example.Stadium/staging/channels/\(id)/broadcasts",
            #"{"event": "update", "contentState": {}}"#, status: 404, slug: "not-found", pointers: ["environment"]),
        .init("a bundle ID that is none", "GET", "/v1/apps/com%2Fexample", status: 404, slug: "app-not-found"),
        .init("an event key that is none", "GET", "/v1/events/a%20b", status: 404, slug: "event-not-found"),
    ]

    @Test(arguments: malformed + invalid + absent)
    func `a refusal is a problem document that names the place`(refusal: Refusal) async throws {
        try await refusal.check()
    }

    @Test func `of a body full of faults the first ones are listed`() async throws {
        let fields = (0..<4_000).map { #""f\#($0)": 1"# }.joined(separator: ",")
        let answer = try await RouteWorld()("PUT", Self.event, Array("{\(fields)}".utf8))
        #expect(answer.status == 422)
        #expect(answer.pointers.count == 50)
        #expect(answer.text.contains("more places are wrong and not listed"))
    }
}

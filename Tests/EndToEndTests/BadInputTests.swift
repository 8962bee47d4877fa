internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// A refusal says what is wrong with a request, and where. Nothing is stored, and the server goes on.
@Suite(.timeLimit(.minutes(5)))
struct BadInputTests {
    private static let broadcasts = "/v1/events/derby/broadcasts"
    private static let event = "/v1/events/new"
    private static let app = "/v1/apps/com.example.New"
    private static let channels = "/v1/apps/com.example.Stadium/development/channels"

    private static func audience(_ bundleID: String, _ environment: String, _ policy: String) -> String {
        #"{"name": "x", "audiences": [{"bundleId": "\#(bundleID)", "environment": "\#(environment)", "storagePolicy": "\#(policy)"}]}"#
    }

    static let refusals: [Refusal] = [
        .init(
            "a message beyond 5,120 bytes", "POST", broadcasts,
            #"{"event": "update", "contentState": {"a": "\#(String(repeating: "x", count: 5_100))"}}"#, status: 413,
            slug: "payload-too-large", hint: "5120"),
        .init(
            "a dismissal that Apple does not wait for", "POST", broadcasts,
            #"{"event": "end", "dismissalDate": "2099-01-01T00:00:00Z"}"#, status: 422, slug: "invalid-request",
            pointers: ["/dismissalDate"]),
        .init(
            "an audience the event lacks", "POST", broadcasts,
            #"{"event": "update", "contentState": {}, "audiences": [{"bundleId": "com.example.Stadium", "environment": "production"}]}"#,
            status: 422, slug: "invalid-request", pointers: ["/audiences/0"]),
        .init(
            "an unknown app", "PUT", event, audience("com.example.Nobody", "production", "noMessageStored"),
            status: 422, slug: "invalid-request", pointers: ["/audiences/0/bundleId"]),
        .init(
            "the same app in another case", "PUT", "/v1/apps/com.example.stadium",
            #"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1"}"#, status: 409, slug: "app-exists"),
        .init("a cursor that is none", "GET", "/v1/events?cursor=xyz", status: 422, slug: "invalid-request"),
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
            "an unknown broadcast", "GET", "/v1/broadcasts/11111111-2222-4333-8444-555555555555", status: 404,
            slug: "broadcast-not-found"),
        .init(
            "an event of another app", "GET", "/v1/lookup/com.example.Nobody/development/derby", status: 404,
            slug: "event-not-found"),
    ]

    @Test func `an unknown HTTP method is refused with 405 and the allowed methods`() async throws {
        try await Stage.with { stage in
            let refused = try await stage.api("BREW", "/v1/events")
            #expect((refused.status, refused.slug) == (405, "method-not-allowed"), "\(refused.text)")
            #expect(refused.headers["allow"]?.contains("PATCH") == true)
            #expect(refused.headers["content-type"] == "application/problem+json")
            #expect(refused.headers["x-content-type-options"] == "nosniff")
        }
    }

    /// Afterwards everything is as it was. GrandstandHTTPTests test the form of refusals, and those that need no
    /// database.
    @Test func `requests that the store refuses change nothing`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            let before = try await Self.contents(stage)
            let asked = stage.simulator.journal().count
            for refusal in Self.refusals {
                let answer = try await stage.api(
                    refusal.method, refusal.path, refusal.body.map { String(decoding: $0, as: UTF8.self) })
                refusal.expect(
                    status: answer.status, slug: answer.slug, pointers: answer.pointers, text: answer.text)
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
}

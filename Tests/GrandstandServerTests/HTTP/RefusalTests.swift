internal import Grandstand
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

/// Faults in requests. The answer names the place of each one (a JSON pointer or a parameter), and no store is called.
///
/// What openapi.yaml says of a body is tested by RequestReadingTests, and by `scripts/contract-check` with made-up
/// requests. Here are the rules that it cannot say.
struct RefusalTests {
    private static let event = "/v1/events/derby"
    private static let app = "/v1/apps/com.example.Stadium"
    private static let channels = app + "/production/channels"
    private static let lookup = "/v1/lookup/com.example.Stadium/production"
    private static let id = "11111111-2222-4333-8444-555555555555"
    private static let item = #"{"eventKey": "derby", "event": "update", "contentState": {}}"#

    private static let malformed: [Refusal] = [
        .init("nothing", "PUT", event, "", status: 400, slug: "malformed-json"),
        .init(
            "a number JSON has not", "POST", event + "/broadcasts",
            #"{"event": "update", "contentState": {"deep": [0, 01]}}"#, status: 400, slug: "malformed-json",
            pointers: ["/contentState/deep"], hint: "line 1, column 51"),
        .init(
            "a body labelled as gzip", "PUT", event, "{}", headers: ["Content-Encoding": "gzip"], status: 415,
            slug: "unsupported-media-type", hint: "gzip"),
        .init(
            "70 KB", "PUT", app, #"{"name": "\#(String(repeating: "x", count: 70_000))"}"#, status: 413,
            slug: "body-too-large"),
        .init(
            "4 MB and more", "POST", "/v1/broadcasts",
            #"{"items": [\#(item)], "x": "\#(String(repeating: "x", count: 4 * 1024 * 1024))"}"#, status: 413,
            slug: "body-too-large"),
        .init(
            "two million zeros", "POST", "/v1/broadcasts",
            #"{"items": [\#(String(repeating: "0,", count: 2_000_000))0]}"#, status: 413, slug: "body-too-large",
            hint: #""limit":250000"#),
        .init(
            "a batch of 501", "POST", "/v1/broadcasts",
            #"{"items": [\#(Array(repeating: item, count: 501).joined(separator: ","))]}"#, pointers: ["/items"]),
        .init("a patch that is a list", "PATCH", event, "[null]", pointers: [""], hint: "An object was expected"),
    ]

    private static func event(_ members: String, _ pointer: String) -> Refusal {
        Refusal(
            members, "PUT", event, #"{"name": "x", "audiences": [\#(audience())], \#(members)}"#, pointers: [pointer])
    }

    private static func audience(_ members: String = "") -> String {
        #"{"bundleId": "com.example.Stadium", "environment": "production", "storagePolicy": "noMessageStored"\#(members)}"#
    }

    private static func audiences(_ audiences: String..., pointer: String) -> Refusal {
        let body = #"{"name": "x", "audiences": [\#(audiences.joined(separator: ", "))]}"#
        return Refusal(body, "PUT", event, body, pointers: [pointer])
    }

    private static func start(_ members: String, _ pointer: String) -> Refusal {
        event(
            #""startsAt": "2026-11-21T20:45:00Z", "start": {"attributesType": "M", "attributes": {}, \#(members)}"#,
            pointer)
    }

    private static func message(_ members: String, _ pointer: String) -> Refusal {
        Refusal(members, "POST", event + "/broadcasts", "{\(members)}", pointers: [pointer])
    }

    private static func key(_ members: String, _ pointer: String) -> Refusal {
        Refusal(members, "POST", "/v1/keys", #"{"name": "x", \#(members)}"#, pointers: [pointer])
    }

    private static func webhook(_ url: String, hint: String) -> Refusal {
        let body = #"{"url": "\#(url)", "topics": ["quota.level"]}"#
        return Refusal(url, "POST", "/v1/webhooks", body, pointers: ["/url"], hint: hint)
    }

    private static let update = #""event": "update", "contentState": {}"#
    private static let alert = #""alert": {"title": "t"}"#

    private static let rules: [Refusal] = [
        event(#""startsAt": "2030-01-02T00:00:00Z", "endsAt": "2030-01-01T00:00:00Z""#, "/endsAt"),
        event(#""startsAt": "2030-01-02T00:00:00Z", "endsAt": "2030-01-02T00:00:00Z""#, "/endsAt"),
        event(#""start": {"attributesType": "M", "attributes": {}, \#(alert)}"#, "/start/at"),
        audiences(audience(), audience(), pointer: "/audiences/1/environment"),
        audiences(audience(#", "variant": "de""#), audience(#", "variant": "de""#), pointer: "/audiences/1/variant"),
        audiences(audience(#", "variant": "de", "delivery": "tokens""#), pointer: "/audiences/0/variant"),
        start(#"\#(alert), "until": "2026-11-21T20:45:00Z""#, "/start/until"),
        start(#""alert": {"sound": "s"}"#, "/start/alert"),
        start(#"\#(alert), "alertsByLocale": {"de": {}}"#, "/start/alertsByLocale/de"),
        start(
            #"\#(alert), "alertsByLocale": {"de": {"title": "t"}, "DE": {"title": "t"}}"#, "/start/alertsByLocale/DE"),
        start(
            #"\#(alert), "audiences": [{"bundleId": "com.example.Stadium", "environment": "development"}]"#,
            "/start/audiences/0"),
        message(#""event": "update""#, "/contentState"),
        message(#"\#(update), "dismissalDate": "2030-01-01T00:00:00Z""#, "/dismissalDate"),
        message(#"\#(update), "alert": {"title": "", "body": null, "sound": "goal.caf"}"#, "/alert"),
        message(#"\#(update), "alert": {"title": " ", "body": "Goal"}"#, "/alert/title"),
        message(#"\#(update), "byVariant": {"de": {"alert": {}}}"#, "/byVariant/de/alert"),
        message(#""event": "start", "contentState": {}"#, "/event"),
        key(#""scopes": ["lookup"], "expiresAt": "2020-01-01T00:00:00Z""#, "/expiresAt"),
        key(#""scopes": ["admin", "device"]"#, "/bundleId"),
        key(#""scopes": ["device"], "bundleIds": ["com.example.A", "com.example.B"]"#, "/bundleId"),
        key(#""scopes": ["lookup"], "bundleIds": ["com.example.A", "com.Example.a"]"#, "/bundleIds/1"),
        key(#""scopes": ["organise", "lookup"], "eventKeyPrefix": "cup.""#, "/eventKeyPrefix"),
        webhook("https://localhost/", hint: "GRANDSTAND_WEBHOOK_NETWORKS"),
        .init(
            "a variant without an event", "POST", channels + "/import", #"{"channelId": "abc=", "variant": "de"}"#,
            pointers: ["/variant"]),
        .init("a bundle ID with a slash", "PUT", "/v1/apps/com%2Fexample", "{}", pointers: ["bundleId"]),
        .init("an event key with a space", "PUT", "/v1/events/a%20b", "{}", pointers: ["key"]),
    ]

    /// Query parameters that cannot be read, with their names.
    private static let queries = [
        ("/v1/events?limit=201", "limit"), ("/v1/events?kind=a%00b", "kind"), ("/v1/events?kind=a&kind=b", "kind"),
        ("/v1/audit-log?cursor=%00", "cursor"),
        ("/v1/audit-log?from=2026-11-21T20:45:01Z&to=2026-11-21T20:45:00Z", "to"),
        (channels + "?managed=false&state=active", "managed"),
        ("/v1/quotas?cursor=com.example.Stadium%2Fstaging", "cursor"),
        (lookup + "/derby?variant=d%20e", "variant"), (lookup + "?cursor=x", "cursor"),
        (lookup + "?topic=a%20b", "topic"),
    ]

    /// Paths that name nothing, with the problem's slug.
    private static let absent = [
        ("GET", "/v1/nothing", "not-found"), ("GET", "//v1/apps", "not-found"), ("GET", "/v1//apps", "not-found"),
        ("GET", "/", "not-found"), ("GET", "/v1/events/a%20b", "event-not-found"),
        ("GET", "/v1/apps/com%2Fexample", "app-not-found"), ("GET", lookup + "/a%20b", "event-not-found"),
        ("GET", "/v1/lookup/a%20b/production/derby", "app-not-found"),
        ("GET", "/v1/lookup/com.example.Stadium/staging/derby", "not-found"),
        ("GET", app + "/staging/channels", "not-found"), ("POST", app + "/staging/reconciliations", "not-found"),
        ("GET", "/v1/broadcasts/1", "broadcast-not-found"),
        ("GET", channels + "/dHN0LXNyY2g%3D", "channel-not-found"), ("GET", "/v1/keys/1", "key-not-found"),
        ("GET", app + "/production/reconciliations/1", "reconciliation-not-found"),
        ("GET", "/v1/webhooks/1", "webhook-not-found"),
        ("GET", "/v1/webhooks/\(id)/deliveries/msg_1", "webhook-delivery-not-found"),
    ]

    @Test(arguments: malformed + rules)
    func `a refusal is a problem document that names the place`(refusal: Refusal) async throws {
        try await refusal.check()
    }

    @Test(arguments: queries)
    func `a query parameter that cannot be read is named`(path: String, name: String) async throws {
        try await Refusal(path, "GET", path, pointers: [name]).check()
    }

    @Test(arguments: absent)
    func `a path that names nothing is refused before any call`(
        method: String, path: String, slug: String
    ) async throws {
        try await Refusal(path, method, path, status: 404, slug: slug).check()
    }
}

/// A request that must be refused, and what the answer must have: `pointers` and other fields, and the text `hint`.
struct Refusal: Sendable, CustomStringConvertible {
    let description: String
    let method: String
    let path: String
    let body: String?
    let headers: [String: String]
    let status: Int
    /// The last part of the problem's `type`.
    let slug: String
    let pointers: [String]
    let hint: String

    init(
        _ description: String, _ method: String, _ path: String, _ body: String? = nil,
        headers: [String: String] = [:], status: Int = 422, slug: String = "invalid-request", pointers: [String] = [],
        hint: String = ""
    ) {
        (self.description, self.method, self.path, self.body) = (description, method, path, body)
        (self.headers, self.status, self.slug) = (headers, status, slug)
        (self.pointers, self.hint) = (pointers, hint)
    }

    /// Sends the request to routes without stores, and checks that the answer is the expected problem and has every
    /// member of a problem document.
    func check() async throws {
        let answer = try await RouteWorld()(method, path, body, headers: headers)
        #expect(answer.status == status && answer.slug == slug, "\(self): \(answer.text)")
        #expect(Set(pointers).isSubset(of: answer.pointers), "\(self): \(answer.text)")
        #expect(hint.isEmpty || answer.text.contains(hint), "\(self): \(answer.text)")
        #expect(answer.headers[.contentType] == "application/problem+json")
        #expect(answer.json["type"] as? String == "https://grandstand.dev/problems/\(slug)")
        #expect((answer.json["title"] as? String)?.isEmpty == false && !answer.detail.isEmpty)
        #expect(answer.json["status"] as? Int == answer.status)
        #expect(answer.json["requestId"] as? String == answer.headers[.xRequestID])
    }
}

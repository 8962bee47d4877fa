internal import APNsWire
internal import ContractKit
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Testing

@testable internal import GrandstandServer

/// Faults in requests. The answer names the place of each one (a JSON pointer or a parameter), and no store is called.
///
/// What openapi.yaml says of a request is tested by RequestReadingTests, and by `scripts/contract-check` with made-up
/// requests. Here are the rules that it cannot say.
struct RefusalTests {
    private static let event = "/v1/events/derby"
    private static let app = "/v1/apps/com.example.Stadium"
    private static let channels = app + "/production/channels"
    private static let lookup = "/v1/lookup/com.example.Stadium/production"
    private static let item = #"{"eventKey": "derby", "event": "update", "contentState": {}}"#

    private static let malformed: [Refusal] = [
        .init("nothing", "PUT", event, "", status: 400, slug: "malformed-json"),
        .init(
            "a name that occurs twice", "POST", event + "/broadcasts",
            #"{"contentState": {"a": 1, "a": 2}}"#, status: 400, slug: "malformed-json",
            pointers: ["/contentState"], hint: "occurs twice in one object (line 1, column 27)."),
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

        key(#""scopes": ["lookup"], "expiresAt": "2020-01-01T00:00:00Z""#, "/expiresAt"),
        key(#""scopes": ["admin", "device"]"#, "/bundleId"),
        key(#""scopes": ["device"], "bundleIds": ["com.example.A", "com.example.B"]"#, "/bundleId"),
        key(#""scopes": ["organise", "lookup"], "eventKeyPrefix": "cup.""#, "/eventKeyPrefix"),
        webhook("https://localhost/", hint: "GRANDSTAND_WEBHOOK_NETWORKS"),
        .init(
            "a variant without an event", "POST", channels + "/import", #"{"channelId": "abc=", "variant": "de"}"#,
            pointers: ["/variant"]),

    ]

    /// Query parameters that cannot be read, with their names.
    private static let queries = [
        ("/v1/events?limit=201", "limit"), ("/v1/events?kind=a&kind=b", "kind"),
        ("/v1/audit-log?from=yesterday", "from"),
        (channels + "?managed=false&state=active", "managed"),
        ("/v1/quotas?cursor=com.example.Stadium%2Fstaging", "cursor"),
        (lookup + "?cursor=x", "cursor"), (lookup + "/derby?include=all", "include"),
        ("/v1/quotas/history?step=7", "step"), ("/v1/quotas/history?step=367d", "step"),
        ("/v1/quotas/history?step=90000000000000000000d", "step"),
        ("/v1/quotas/history?from=2026-11-21T20:45:00Z&to=2026-11-21T20:45:00Z", "from"),
    ]

    /// Paths that name nothing, with the problem's slug.
    private static let absent = [
        ("/v1/nothing", "not-found"), ("//v1/apps", "not-found"), ("/v1//apps", "not-found"), ("/", "not-found"),
        ("/v1/events/a%20b", "event-not-found"), ("/v1/apps/com%2Fexample", "app-not-found"),
        (app + "/staging/channels", "not-found"), ("/v1/broadcasts/1", "broadcast-not-found"),
        (lookup + "/a%20b", "event-not-found"),
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
    func `a path that names nothing is refused before any call`(path: String, slug: String) async throws {
        try await Refusal(path, "GET", path, status: 404, slug: slug).check()
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
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(answer.json["type"] as? String == "https://grandstand.dev/problems/\(slug)")
        #expect((answer.json["title"] as? String)?.isEmpty == false && !answer.detail.isEmpty)
        #expect(answer.json["status"] as? Int == answer.status)
        #expect(answer.json["requestId"] as? String == answer.headers[.xRequestID])
    }
}

/// openapi.yaml and the code agree in both directions, and openapi.yaml follows its own rules.
struct ContractRouteTests {
    private static let contract = OpenAPIDocument.served

    @Test func `each operation of the contract has one route, and no other route exists`() throws {
        let api = try RouteWorld().api { RouteWorld.now }
        let routed = (api.routes + api.healthRoutes()).map(\.operation.id)
        #expect(routed.sorted() == Contract.Operation.all.map(\.id).sorted())
    }

    @Test func `only probes and the contract need no key`() {
        let open = Contract.Operation.all.filter { $0.scopes == nil }
        #expect(open.map(\.id) == ["health", "readiness", "contract"])
    }

    @Test func `everyone may read the contract, with any query`() async throws {
        let answer = try await RouteWorld()("GET", "/openapi.yaml?v=1", as: nil)
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "application/yaml")
    }

    /// The values of an enumeration in the contract, and of its type in the code.
    private static func words<Rule: CaseIterable & RawRepresentable<String>>(
        _ contract: [some ContractWord], _ rule: Rule.Type
    ) -> (contract: [String], code: [String]) {
        (contract.map(\.rawValue), rule.allCases.map(\.rawValue))
    }

    @Test func `enumerations have the same values in the contract and in the code`() {
        let pairs = [
            Self.words(Contract.Environment.allCases, APNsEnvironment.self),
            Self.words(Contract.StoragePolicy.allCases, StoragePolicy.self),
        ]
        for (contract, code) in pairs { #expect(contract == code) }
        // A broadcast cannot start an activity, because APNs does not support this.
        let kinds = Contract.BroadcastKind.allCases.map(\.rawValue)
        #expect(kinds == BroadcastPayload.Event.allCases.filter { $0 != .start }.map(\.rawValue))
        #expect(Contract.QuirkValue.allCases == Contract.QuirkName.allCases.flatMap(\.values))
        #expect(Contract.MissingReason.allCases.allSatisfy { Problem.Kind(rawValue: $0.rawValue) != nil })
        let messages = Contract.WebhookMessageType.allCases.filter { $0 != .webhookTest }.map(\.rawValue)
        #expect(Contract.WebhookTopic.allCases.map(\.rawValue) == messages)
        let topics = Self.contract.schema("WebhookDraft")?["properties"]?["topics"]
        #expect(topics?["maxItems"]?.number == Double(messages.count))
    }

    @Test func `each kind of problem has its members, which are in the schema of problems`() {
        let problems = Self.contract.schema("ProblemKind")?["x-problems"]?.members ?? []
        let members = Set(Self.contract.schema("Problem")?["properties"]?.members.map(\.name) ?? [])
        for (kind, entry) in problems {
            #expect(members.isSuperset(of: entry["members"]?.strings ?? []), "\(kind)")
        }
        #expect(problems.map(\.name) == Problem.Kind.allCases.map(\.rawValue).sorted())
    }

    @Test func `every example fits its schema`() {
        var count = 0
        Self.walk(Self.contract.document, "") { value, place in
            for example in value["examples"]?.elements ?? [] where value["type"] != nil || value["anyOf"] != nil {
                #expect(Self.contract.faults(of: example, in: value) == [], "\(place)")
                count += 1
            }
            if let schema = value["schema"], let example = value["example"] {
                #expect(Self.contract.faults(of: example, in: schema) == [], "\(place)")
                count += 1
                let title = Self.contract.schema("ProblemKind")?["x-problems"]?[
                    OpenAPIDocument.last(example["type"]?.string ?? "")]?["title"]
                if place.hasSuffix("problem+json") { #expect(example["title"] == title, "\(place)") }
            }
        }
        #expect(count > 90)
    }

    @Test func `every field, schema, parameter and value has a description`() {
        for (name, schema) in Self.contract.schemas {
            #expect(schema["description"]?.string?.isEmpty == false, "\(name)")
            for (field, property) in schema["properties"]?.members ?? [] {
                let own = property["description"] ?? Self.contract.resolved(property)["description"]
                #expect(own?.string?.isEmpty == false, "\(name).\(field)")
            }
            if let words = schema["enum"]?.elements {
                #expect(schema["x-enum-descriptions"]?.members.count == words.count, "\(name)")
            }
            for field in schema["required"]?.strings ?? [] {
                #expect(schema["properties"]?[field] != nil, "\(name).\(field) is required and not described")
            }
        }
        for (name, parameter) in Self.contract.document["components"]?["parameters"]?.members ?? [] {
            #expect(parameter["description"]?.string?.isEmpty == false, "\(name)")
        }
    }

    private static func walk(_ value: YAML, _ place: String, _ visit: (YAML, String) -> Void) {
        visit(value, place)
        for (name, member) in value.members where name != "example" && name != "examples" {
            walk(member, "\(place)/\(name)", visit)
        }
        for (index, element) in value.elements.enumerated() { walk(element, "\(place)/\(index)", visit) }
    }
}

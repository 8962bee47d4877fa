internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandContract
internal import GrandstandHTTP
internal import GrandstandTestKit
internal import Testing

/// Every route, called with a key of one app for resources of that app, of another app, and of both.
@Suite(.timeLimit(.minutes(5)))
struct ReachMatrixTests {
    private static let other = "com.example.Other"

    /// Resources that belong to one app or to two, made for this test: the last six are the IDs of a sent broadcast, a
    /// scheduled one, a push, a channel, a webhook and a key.
    private struct Thing: Sendable {
        let name: String
        let app: String
        let event: String
        let sent: String
        let scheduled: String
        let push: String
        let channel: String
        let webhook: String
        let key: String
    }

    private struct Call: Sendable {
        let method: String
        /// The route, as the contract writes it.
        let route: String
        let path: @Sendable (Thing) -> String
        var body: @Sendable (Thing) -> String? = { _ in nil }
        /// Whether the call concerns one app only, even if the event also has another app.
        var isOfApp = false
    }

    private static let update = #"{"event": "update", "contentState": {"n": 1}}"#
    private static let state = #"{"contentState": {"n": 1}}"#

    /// A call about an installation, with a key that does not have the scope `device`.
    private static func device(_ method: String, _ rest: String = "") -> Call {
        Call(
            method: method, route: "/v1/apps/{bundleId}/{environment}/installations/{installationId}" + rest,
            path: { "/v1/apps/\($0.app)/development/installations/\($0.channel)" + rest }, isOfApp: true)
    }

    private static func content(_ method: String) -> Call {
        Call(
            method: method, route: "/v1/apps/{bundleId}/contents/{attributesType}",
            path: { "/v1/apps/\($0.app)/contents/MatchAttributes" }, isOfApp: true)
    }

    private static let calls: [Call] = [
        .init(method: "GET", route: "/v1/events/{key}", path: { "/v1/events/\($0.event)" }),
        .init(
            method: "PUT", route: "/v1/events/{key}", path: { "/v1/events/\($0.event)" },
            body: { _ in #"{"name": "Mine", "audiences": [\#(Stage.audience(.development, .noMessageStored))]}"# }),
        .init(
            method: "PATCH", route: "/v1/events/{key}", path: { "/v1/events/\($0.event)" },
            body: { _ in #"{"kind": "mine"}"# }),
        .init(
            method: "PUT", route: "/v1/events/{key}/state", path: { "/v1/events/\($0.event)/state" },
            body: { _ in state }),
        .init(
            method: "POST", route: "/v1/events/{key}/state/preview",
            path: { "/v1/events/\($0.event)/state/preview" }, body: { _ in state }),
        content("PUT"), content("GET"), content("DELETE"),
        .init(
            method: "GET", route: "/v1/apps/{bundleId}/contents", path: { "/v1/apps/\($0.app)/contents" },
            isOfApp: true),
        .init(method: "POST", route: "/v1/events/{key}/reopen", path: { "/v1/events/\($0.event)/reopen" }),
        .init(method: "GET", route: "/v1/events/{key}/stream", path: { "/v1/events/\($0.event)/stream" }),
        .init(
            method: "POST", route: "/v1/events/{key}/broadcasts", path: { "/v1/events/\($0.event)/broadcasts" },
            body: { _ in update }),
        .init(
            method: "POST", route: "/v1/events/{key}/broadcasts/preview",
            path: { "/v1/events/\($0.event)/broadcasts/preview" }, body: { _ in update }),
        .init(method: "GET", route: "/v1/events/{key}/broadcasts", path: { "/v1/events/\($0.event)/broadcasts" }),
        .init(method: "GET", route: "/v1/events/{key}/starts", path: { "/v1/events/\($0.event)/starts" }),
        .init(
            method: "POST", route: "/v1/events/{key}/starts", path: { "/v1/events/\($0.event)/starts" },
            body: { _ in "{}" }),
        .init(method: "DELETE", route: "/v1/events/{key}/starts", path: { "/v1/events/\($0.event)/starts" }),
        .init(
            method: "GET", route: "/v1/apps/{bundleId}/{environment}/topics",
            path: { "/v1/apps/\($0.app)/development/topics" }, isOfApp: true),
        .init(method: "GET", route: "/v1/events/{key}/receipts", path: { "/v1/events/\($0.event)/receipts" }),
        .init(
            method: "GET", route: "/v1/apps/{bundleId}/{environment}/installations/statistics",
            path: { "/v1/apps/\($0.app)/development/installations/statistics" }, isOfApp: true),
        device("PUT"), device("GET"), device("DELETE"), device("PUT", "/activities/{activityId}"),
        device("DELETE", "/activities/{activityId}"), device("POST", "/receipts"),
        .init(method: "GET", route: "/v1/broadcasts/{id}", path: { "/v1/broadcasts/\($0.sent)" }),
        .init(method: "GET", route: "/v1/broadcasts/{id}", path: { "/v1/broadcasts/\($0.scheduled)" }),
        .init(method: "DELETE", route: "/v1/broadcasts/{id}", path: { "/v1/broadcasts/\($0.scheduled)" }),
        .init(method: "GET", route: "/v1/pushes/{id}", path: { "/v1/pushes/\($0.push)" }, isOfApp: true),
        .init(
            method: "POST", route: "/v1/apps/{bundleId}/{environment}/pushes",
            path: { "/v1/apps/\($0.app)/development/pushes" }, isOfApp: true),
        .init(method: "GET", route: "/v1/apps/{bundleId}", path: { "/v1/apps/\($0.app)" }, isOfApp: true),
        .init(method: "PUT", route: "/v1/apps/{bundleId}", path: { "/v1/apps/\($0.app)" }, isOfApp: true),
        .init(
            method: "PUT", route: "/v1/apps/{bundleId}/{environment}/quirks/{quirk}",
            path: { "/v1/apps/\($0.app)/development/quirks/management-path" }, isOfApp: true),
        .init(
            method: "GET", route: "/v1/apps/{bundleId}/{environment}/channels",
            path: { "/v1/apps/\($0.app)/development/channels" }, isOfApp: true),
        .init(
            method: "POST", route: "/v1/apps/{bundleId}/{environment}/channels",
            path: { "/v1/apps/\($0.app)/development/channels" }, isOfApp: true),
        .init(
            method: "GET", route: "/v1/apps/{bundleId}/{environment}/channels/{id}",
            path: { "/v1/apps/\($0.app)/development/channels/\($0.channel)" }, isOfApp: true),
        .init(
            method: "POST", route: "/v1/apps/{bundleId}/{environment}/channels/{id}/broadcasts",
            path: { "/v1/apps/\($0.app)/development/channels/\($0.channel)/broadcasts" }, isOfApp: true),
        .init(
            method: "POST", route: "/v1/apps/{bundleId}/{environment}/channels/import",
            path: { "/v1/apps/\($0.app)/development/channels/import" }, isOfApp: true),
        .init(
            method: "POST", route: "/v1/apps/{bundleId}/{environment}/reconciliations",
            path: { "/v1/apps/\($0.app)/development/reconciliations" }, isOfApp: true),
        .init(
            method: "GET", route: "/v1/apps/{bundleId}/{environment}/reconciliations",
            path: { "/v1/apps/\($0.app)/development/reconciliations" }, isOfApp: true),
        .init(
            method: "GET", route: "/v1/apps/{bundleId}/{environment}/reconciliations/{id}",
            path: { "/v1/apps/\($0.app)/development/reconciliations/\($0.channel)" }, isOfApp: true),
        .init(
            method: "GET", route: "/v1/lookup/{bundleId}/{environment}/{key}",
            path: { "/v1/lookup/\($0.app)/development/\($0.event)" }, isOfApp: true),
        .init(
            method: "POST", route: "/v1/lookup/{bundleId}/{environment}",
            path: { "/v1/lookup/\($0.app)/development" }, body: { #"{"eventKeys": ["\#($0.event)"]}"# }, isOfApp: true),
        .init(
            method: "GET", route: "/v1/lookup/{bundleId}/{environment}",
            path: { "/v1/lookup/\($0.app)/development" }, isOfApp: true),
        .init(method: "GET", route: "/v1/webhooks/{id}", path: { "/v1/webhooks/\($0.webhook)" }),
        .init(method: "PUT", route: "/v1/webhooks/{id}", path: { "/v1/webhooks/\($0.webhook)" }, body: { _ in hook }),
        .init(method: "POST", route: "/v1/webhooks/{id}/secret", path: { "/v1/webhooks/\($0.webhook)/secret" }),
        .init(method: "POST", route: "/v1/webhooks/{id}/test", path: { "/v1/webhooks/\($0.webhook)/test" }),
        .init(method: "GET", route: "/v1/webhooks/{id}/deliveries", path: { "/v1/webhooks/\($0.webhook)/deliveries" }),
        .init(
            method: "GET", route: "/v1/webhooks/{id}/deliveries/{delivery}",
            path: { "/v1/webhooks/\($0.webhook)/deliveries/\($0.channel)" }),
        .init(
            method: "POST", route: "/v1/webhooks/{id}/deliveries/{delivery}/replay",
            path: { "/v1/webhooks/\($0.webhook)/deliveries/\($0.channel)/replay" }),
        .init(method: "GET", route: "/v1/keys/{id}", path: { "/v1/keys/\($0.key)" }),
        .init(method: "POST", route: "/v1/keys/{id}/rotations", path: { "/v1/keys/\($0.key)/rotations" }),
        // Calls that end things come last.
        .init(method: "DELETE", route: "/v1/pushes/{id}", path: { "/v1/pushes/\($0.push)" }, isOfApp: true),
        .init(method: "DELETE", route: "/v1/keys/{id}", path: { "/v1/keys/\($0.key)" }),
        .init(method: "DELETE", route: "/v1/webhooks/{id}", path: { "/v1/webhooks/\($0.webhook)" }),
        .init(
            method: "DELETE", route: "/v1/apps/{bundleId}/{environment}/channels/{id}",
            path: { "/v1/apps/\($0.app)/development/channels/\($0.channel)" }, isOfApp: true),
        .init(method: "DELETE", route: "/v1/events/{key}", path: { "/v1/events/\($0.event)" }),
        .init(method: "DELETE", route: "/v1/apps/{bundleId}", path: { "/v1/apps/\($0.app)" }, isOfApp: true),
    ]

    /// Routes whose path names no resource of an app. Their lists and answers are tested one by one.
    private static let others: Set<String> = [
        "GET /v1/apps", "GET /v1/events", "POST /v1/broadcasts", "GET /v1/quotas", "GET /v1/quotas/history",
        "GET /v1/audit-log",
        "POST /v1/webhooks", "GET /v1/webhooks", "POST /v1/keys", "GET /v1/keys", "GET /metrics",
    ]

    private static let hook = #"{"url": "https://example.com/hook", "topics": ["broadcast.settled"]}"#

    /// Makes an event of these apps with a sent and a scheduled broadcast, and a webhook and a key for them. The first
    /// app also gets a push and a channel.
    private func make(_ name: String, of apps: [String], on stage: Stage) async throws -> Thing {
        try await stage.putEvent(name, apps.map { Stage.audience(.development, .noMessageStored, of: $0) })
        try await stage.activeChannels(of: name)
        let sent = try await stage.broadcast(Self.update, to: name)
        let scheduled = try await stage.broadcast(
            #"{"event": "update", "contentState": {}, "sendAt": "2099-01-01T00:00:00Z"}"#, to: name)
        let push = try await stage.api(
            "POST", "/v1/apps/\(apps[0])/development/pushes",
            #"{"token": "ab", "event": "update", "contentState": {}, "sendAt": "2099-01-01T00:00:00Z"}"#)
        let channel = try await stage.api(
            "POST", "/v1/apps/\(apps[0])/development/channels", #"{"storagePolicy": "noMessageStored"}"#)
        let bound = #", "bundleIds": ["\#(apps.joined(separator: #"", ""#))"]"#
        let webhook = try await stage.api("POST", "/v1/webhooks", String(Self.hook.dropLast()) + bound + "}")
        let key = try await stage.api("POST", "/v1/keys", #"{"name": "\#(name)", "scopes": ["lookup"]\#(bound)}"#)
        return Thing(
            name: name, app: apps[0], event: name, sent: sent, scheduled: scheduled,
            push: try #require(push.json["id"]?.string, "\(push.text)"),
            channel: try #require(channel.json["id"]?.string, "\(channel.text)"),
            webhook: try #require(webhook.json["id"]?.string, "\(webhook.text)"),
            key: try #require(key.json["id"]?.string, "\(key.text)"))
    }

    @Test func `on every route a key of one app reaches only what belongs to that app alone`() async throws {
        try await Stage.with { stage in
            let walked = Set(Self.calls.map { "\($0.method) \($0.route)" }).union(Self.others)
            let routed = Set(
                Contract.Operation.all.filter { $0.scopes != nil }.map { "\($0.method) \($0.path)" })
            #expect(routed.subtracting(walked).sorted() == [])
            #expect(walked.subtracting(routed).sorted() == [])

            try await stage.putApp()
            try await stage.putApp(Self.other)
            let mine = try await make("mine", of: [Stage.bundleID], on: stage)
            let theirs = try await make("theirs", of: [Self.other], on: stage)
            let both = try await make("both", of: [Stage.bundleID, Self.other], on: stage)
            let caller = try await stage.caller([.admin], app: Stage.bundleID)

            try await refused(caller, theirs, both)
            try await listed(caller, mine)
            try await bulk(caller)
            // The key of `caller` could not reach these resources. A key for all apps shows that they are still there
            // and unchanged.
            for thing in [theirs, both] {
                #expect(try await stage.api("GET", "/v1/events/\(thing.event)").json["state"]?.string == "live")
                #expect(try await stage.api("GET", "/v1/events/\(thing.event)").json["name"]?.string == "Derby")
                let scheduled = try await stage.api("GET", "/v1/broadcasts/\(thing.scheduled)")
                #expect(scheduled.json["state"]?.string == "scheduled")
                #expect(try await stage.api("GET", "/v1/webhooks/\(thing.webhook)").status == 200)
                #expect(try await stage.api("GET", "/v1/keys/\(thing.key)").json["state"]?.string == "active")
            }
            try await covered(mine, by: caller)
            let pair = try await stage.api(
                "POST", "/v1/keys",
                #"{"name": "p", "scopes": ["admin"], "bundleIds": ["\#(Stage.bundleID)", "\#(Self.other)"]}"#)
            let team = HTTPCaller(url: stage.url, secret: try #require(pair.json["secret"]?.string, "\(pair.text)"))
            let events = try await team("GET", "/v1/events").json["items"]?.items.compactMap { $0["key"]?.string }
            #expect(Set(events ?? []) == ["mine", "theirs", "both"])
            try await covered(both, by: team)
        }
    }

    private func covered(_ thing: Thing, by caller: HTTPCaller) async throws {
        for call in Self.calls where !call.route.hasSuffix("/stream") {
            let answer = try await caller(call.method, call.path(thing), call.body(thing))
            #expect(answer.status != 403, "\(call.method) \(call.route): \(answer.text)")
        }
    }

    private func refused(_ caller: HTTPCaller, _ theirs: Thing, _ both: Thing) async throws {
        for call in Self.calls {
            for thing in [theirs, both] where !(call.isOfApp && thing.name == "both") {
                let answer = try await caller(call.method, call.path(thing), call.body(thing))
                // The answer is 403 in two cases, and 404 in all others. A path that names an app is refused before
                // anything is looked up. A caller that declares an event must be told that the event's key is taken.
                let isForbidden =
                    call.route.contains("{bundleId}") || call.method == "PUT" && call.route == "/v1/events/{key}"
                #expect(
                    answer.status == (isForbidden ? 403 : 404),
                    "\(call.method) \(call.path(thing)): \(answer.status)")
                #expect(answer.slug?.hasSuffix("-not-found") == !isForbidden, "\(answer.text)")
                #expect(!answer.text.contains(Self.other), "\(answer.text)")
            }
        }
    }

    private func listed(_ caller: HTTPCaller, _ mine: Thing) async throws {
        let paths = [
            "/v1/apps", "/v1/events", "/v1/quotas", "/v1/audit-log", "/v1/webhooks", "/v1/keys",
            "/v1/apps?limit=1",
            "/v1/events?bundleId=\(Stage.bundleID)",
        ]
        for path in paths {
            let answer = try await caller("GET", path)
            #expect(answer.status == 200, "\(path)")
            #expect(answer.json["items"]?.items.isEmpty == false, "\(path)")
            for word in [Self.other, "theirs"] { #expect(!answer.text.contains(word), "\(path): \(answer.text)") }
        }
        let events = try await caller("GET", "/v1/events").json["items"]?.items.compactMap { $0["key"]?.string }
        #expect(events == [mine.event])
        for path in ["/v1/events?bundleId=\(Self.other)", "/v1/audit-log?bundleId=\(Self.other)", "/metrics"] {
            #expect(try await caller("GET", path).status == 403, "\(path)")
        }
        for (path, body) in [
            ("/v1/keys", #"{"name": "k", "scopes": ["lookup"], "bundleId": "\#(Self.other)"}"#),
            ("/v1/keys", #"{"name": "k", "scopes": ["lookup"]}"#),
            ("/v1/webhooks", String(Self.hook.dropLast()) + #", "bundleId": "\#(Self.other)"}"#),
        ] {
            #expect(try await caller("POST", path, body).status == 403, "\(path)")
        }
        let made = try await caller("POST", "/v1/webhooks", Self.hook)
        #expect(made.json["bundleId"]?.string == Stage.bundleID)
    }

    private func bulk(_ caller: HTTPCaller) async throws {
        let items = ["mine", "theirs", "both"].map {
            #"{"eventKey": "\#($0)", "event": "update", "contentState": {"bulk": true}}"#
        }
        let answer = try await caller("POST", "/v1/broadcasts", #"{"items": [\#(items.joined(separator: ","))]}"#)
        #expect(answer.status == 202)
        let statuses = answer.json["items"]?.items.map { $0["problem"]?["status"]?.int }
        #expect(statuses == [nil, 404, 404])
    }

    @Test func `the console's pages show a key of one app what the API shows it`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            try await stage.putApp(Self.other)
            try await stage.putEvent("mine")
            try await stage.putEvent("theirs", [Stage.audience(.development, .noMessageStored, of: Self.other)])
            try await stage.putEvent(
                "both",
                [
                    Stage.audience(.development, .noMessageStored),
                    Stage.audience(.development, .noMessageStored, of: Self.other),
                ])
            let secret = try await stage.caller([.organise, .operate], app: Stage.bundleID).secret
            let browser = try await Browser(url: stage.url).signedIn(with: secret)
            let list = try await browser.get("/console/events")
            #expect(list.body.contains("/console/events/mine"))
            for word in ["theirs", "/console/events/both"] { #expect(!list.body.contains(word)) }
            #expect(try await browser.get("/console/events/mine").status == 200)
            for key in ["theirs", "both"] { #expect(try await browser.get("/console/events/\(key)").status == 404) }
            for path in ["/console", "/console/apps", "/console/audit-log"] {
                let page = try await browser.get(path)
                #expect(page.status == 200)
                #expect(!page.body.contains(Self.other), "\(path)")
            }
            // The event has only one app again: what was sent to the other app is not shown.
            try await stage.activeChannels(of: "both")
            let id = try await stage.broadcast(Self.update, to: "both")
            _ = try await stage.settled(id)
            try await stage.putEvent("both")
            let page = try await browser.get("/console/events/both")
            #expect(page.status == 200)
            #expect(!page.body.contains(Self.other))
            let deliveries = try await HTTPCaller(url: stage.url, secret: secret)("GET", "/v1/broadcasts/\(id)")
                .json["deliveries"]?.items.compactMap { $0["bundleId"]?.string }
            #expect(deliveries == [Stage.bundleID])
        }
    }
}

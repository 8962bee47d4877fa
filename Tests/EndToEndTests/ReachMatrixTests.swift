internal import Grandstand
internal import Testing

/// Every operation, called with a key of one app for resources of that app, of another app, and of both.
@Suite(.timeLimit(.minutes(20)))
struct ReachMatrixTests {
    private static let other = "com.example.Other"

    /// Resources that belong to one app or to two, made for this test.
    private struct Thing: Sendable {
        let app: String
        let event: String
        /// The IDs of resources, by the part of a path that comes before them.
        let ids: [String: String]
    }

    /// The operations whose path names a resource. Those that end something come last.
    private static let calls = Contract.Operation.all.filter { $0.scopes != nil && $0.path.contains("{") }
        .sorted { $0.method != "DELETE" && $1.method == "DELETE" }

    private static let update = #"{"event": "update", "contentState": {"n": 1}}"#
    private static let hook = #"{"url": "https://example.com/hook", "topics": ["broadcast.settled"]}"#

    private static func path(_ call: Contract.Operation, _ thing: Thing) -> String {
        var parts: [String] = []
        for part in call.path.split(separator: "/") {
            let value =
                switch part {
                case "{bundleId}": thing.app
                case "{environment}": "development"
                case "{key}": thing.event
                case "{attributesType}": "MatchAttributes"
                case "{quirk}": "management-path"
                // For an ID that nothing has, the ID of another resource will do.
                case _ where part.hasPrefix("{"): thing.ids[parts.last ?? ""] ?? thing.ids["channels"] ?? ""
                default: String(part)
                }
            parts.append(value)
        }
        return "/" + parts.joined(separator: "/")
    }

    /// The body of a call whose body is read before its resource is looked up.
    private static func body(_ call: Contract.Operation) -> String? {
        switch (call.method, call.path) {
        case ("PUT", "/v1/events/{key}"):
            #"{"name": "Mine", "audiences": [\#(Stage.audience())]}"#
        case ("PATCH", _): #"{"kind": "mine"}"#
        case (_, "/v1/events/{key}/state"), (_, "/v1/events/{key}/state/preview"): #"{"contentState": {"n": 1}}"#
        case ("POST", "/v1/events/{key}/broadcasts"), (_, "/v1/events/{key}/broadcasts/preview"): update
        case ("POST", "/v1/events/{key}/starts"): "{}"
        case ("PUT", "/v1/webhooks/{id}"): hook
        default: nil
        }
    }

    /// Makes an event of these apps with a sent and a scheduled broadcast, and a webhook and a key for them. The first
    /// app also gets a channel.
    private func make(_ name: String, of apps: [String], on stage: Stage) async throws -> Thing {
        try await stage.putEvent(name, apps.map { Stage.audience(of: $0) })
        try await stage.activeChannels(of: name)
        _ = try await stage.broadcast(Self.update, to: name)
        let scheduled = try await stage.broadcast(
            #"{"event": "update", "contentState": {}, "sendAt": "2099-01-01T00:00:00Z"}"#, to: name)
        var ids = ["broadcasts": scheduled]
        let bound = #", "bundleIds": ["\#(apps.joined(separator: #"", ""#))"]"#
        for (kind, path, body) in [
            ("channels", "/v1/apps/\(apps[0])/development/channels", #"{"storagePolicy": "noMessageStored"}"#),
            ("webhooks", "/v1/webhooks", String(Self.hook.dropLast()) + bound + "}"),
            ("keys", "/v1/keys", #"{"name": "\#(name)", "scopes": ["lookup"]\#(bound)}"#),
        ] {
            let made = try await stage.api("POST", path, body)
            ids[kind] = try #require(made.json["id"]?.string, "\(made.text)")
        }
        return Thing(app: apps[0], event: name, ids: ids)
    }

    @Test func `on every route a key of one app reaches only what belongs to that app alone`() async throws {
        try await Stage.with { stage in
            try await stage.putApp()
            try await stage.putApp(Self.other)
            let mine = try await make("mine", of: [Stage.bundleID], on: stage)
            let theirs = try await make("theirs", of: [Self.other], on: stage)
            let both = try await make("both", of: [Stage.bundleID, Self.other], on: stage)
            let caller = try await stage.caller([.admin], app: Stage.bundleID)

            try await refused(caller, theirs, both)
            try await listed(caller)
            // The key of `caller` could not reach these resources. A key for all apps shows that they are still there
            // and unchanged.
            for thing in [theirs, both] {
                let event = try await stage.api("GET", "/v1/events/\(thing.event)").json
                #expect(event["state"]?.string == "live" && event["name"]?.string == "Derby")
                for (kind, state) in ["broadcasts": "scheduled", "webhooks": nil, "keys": "active"] as [String: String?]
                {
                    let answer = try await stage.api("GET", "/v1/\(kind)/\(thing.ids[kind] ?? "")")
                    #expect(answer.status == 200 && answer.json["state"]?.string == state, "\(answer.text)")
                }
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
        for call in Self.calls {
            let answer = try await caller(call.method, Self.path(call, thing), Self.body(call))
            #expect(answer.status != 403, "\(call.method) \(call.path): \(answer.text)")
        }
    }

    private func refused(_ caller: HTTPCaller, _ theirs: Thing, _ both: Thing) async throws {
        for call in Self.calls {
            // A path with an app belongs to one app, even if the event also has another app.
            for thing in call.path.contains("{bundleId}") ? [theirs] : [theirs, both] {
                let answer = try await caller(call.method, Self.path(call, thing), Self.body(call))
                // The answer is 403 in two cases, and 404 in all others. A path that names an app is refused before
                // anything is looked up. A caller that declares an event must be told that the event's key is taken.
                let isForbidden =
                    call.path.contains("{bundleId}") || call.method == "PUT" && call.path == "/v1/events/{key}"
                #expect(
                    answer.status == (isForbidden ? 403 : 404), "\(call.method) \(call.path): \(answer.text)")
                #expect(answer.slug?.hasSuffix("-not-found") == !isForbidden, "\(answer.text)")
                #expect(!answer.text.contains(Self.other), "\(answer.text)")
            }
        }
    }

    private func listed(_ caller: HTTPCaller) async throws {
        let paths = [
            "/v1/apps", "/v1/events", "/v1/quotas", "/v1/audit-log", "/v1/webhooks", "/v1/keys", "/v1/apps?limit=1",
            "/v1/events?bundleId=\(Stage.bundleID)",
        ]
        for path in paths {
            let answer = try await caller("GET", path)
            #expect(answer.status == 200 && answer.json["items"]?.items.isEmpty == false, "\(path)")
            for word in [Self.other, "theirs"] { #expect(!answer.text.contains(word), "\(path): \(answer.text)") }
        }
        let events = try await caller("GET", "/v1/events").json["items"]?.items.compactMap { $0["key"]?.string }
        #expect(events == ["mine"])
        for path in ["/v1/events?bundleId=\(Self.other)", "/v1/audit-log?bundleId=\(Self.other)", "/metrics"] {
            #expect(try await caller("GET", path).status == 403, "\(path)")
        }
    }
}

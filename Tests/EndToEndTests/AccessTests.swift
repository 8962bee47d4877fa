internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandAPI
internal import GrandstandApp
internal import GrandstandTestKit
internal import Testing

/// Keys and scopes on every route, and what needs none.
@Suite(.timeLimit(.minutes(5)))
struct AccessTests {
    struct Operation: Sendable, CustomStringConvertible {
        let method: String
        let path: String
        /// One of them is enough; empty: any valid key will do.
        let scopes: Set<APIKey.Scope>

        init(method: String, path: String, scope: APIKey.Scope?) {
            self.init(method: method, path: path, oneOf: scope.map { [$0] } ?? [])
        }

        init(method: String, path: String, oneOf scopes: Set<APIKey.Scope>) {
            self.method = method
            self.path = path
            self.scopes = scopes
        }

        var description: String { "\(method) \(path)" }
    }

    private static let id = "11111111-2222-4333-8444-555555555555"

    /// Every route of openapi.yaml that this server has; nothing behind them exists.
    static let operations: [Operation] = [
        .init(method: "PUT", path: "/v1/apps/com.example.None", scope: .admin),
        .init(method: "GET", path: "/v1/apps", scope: nil),
        .init(method: "GET", path: "/v1/apps/com.example.None", scope: nil),
        .init(method: "DELETE", path: "/v1/apps/com.example.None", scope: .admin),
        .init(
            method: "PUT", path: "/v1/apps/com.example.None/production/quirks/management-path", scope: .admin),
        .init(method: "POST", path: "/v1/apps/com.example.None/production/channels/import", scope: .operate),
        .init(
            method: "POST", path: "/v1/apps/com.example.None/production/channels/\(id)/broadcasts", scope: .organise),
        .init(method: "POST", path: "/v1/apps/com.example.None/production/reconciliations", scope: .operate),
        .init(method: "GET", path: "/v1/apps/com.example.None/production/reconciliations", scope: .operate),
        .init(method: "GET", path: "/v1/apps/com.example.None/production/reconciliations/\(id)", scope: .operate),
        .init(method: "POST", path: "/v1/broadcasts", scope: .organise),
        .init(method: "GET", path: "/v1/audit-log", scope: .operate),
        .init(method: "POST", path: "/v1/keys", scope: .admin),
        .init(method: "GET", path: "/v1/keys", scope: .admin),
        .init(method: "GET", path: "/v1/keys/\(id)", scope: .admin),
        .init(method: "DELETE", path: "/v1/keys/\(id)", scope: .admin),
        .init(method: "POST", path: "/v1/keys/\(id)/rotations", scope: .admin),
        .init(method: "POST", path: "/v1/apps/com.example.None/production/channels", scope: .operate),
        .init(method: "GET", path: "/v1/apps/com.example.None/production/channels", scope: .operate),
        .init(method: "GET", path: "/v1/apps/com.example.None/production/channels/\(id)", scope: .operate),
        .init(method: "DELETE", path: "/v1/apps/com.example.None/production/channels/\(id)", scope: .operate),
        .init(method: "PUT", path: "/v1/events/none", scope: .organise),
        .init(method: "GET", path: "/v1/events", scope: .organise),
        .init(method: "GET", path: "/v1/events/none", scope: .organise),
        .init(method: "DELETE", path: "/v1/events/none", scope: .organise),
        .init(method: "POST", path: "/v1/events/none/broadcasts", scope: .organise),
        .init(method: "GET", path: "/v1/events/none/broadcasts", scope: .organise),
        .init(method: "GET", path: "/v1/broadcasts/\(id)", scope: .organise),
        .init(method: "DELETE", path: "/v1/broadcasts/\(id)", scope: .organise),
        .init(method: "GET", path: "/v1/lookup/com.example.None/production/none", scope: .lookup),
        .init(method: "POST", path: "/v1/lookup/com.example.None/production", scope: .lookup),
        .init(method: "GET", path: "/v1/quotas", scope: .operate),
        .init(method: "GET", path: "/v1/events/none/stream", scope: .organise),
        .init(method: "POST", path: "/v1/webhooks", oneOf: [.organise, .operate]),
        .init(method: "GET", path: "/v1/webhooks", oneOf: [.organise, .operate]),
        .init(method: "GET", path: "/v1/webhooks/\(id)", oneOf: [.organise, .operate]),
        .init(method: "PUT", path: "/v1/webhooks/\(id)", oneOf: [.organise, .operate]),
        .init(method: "DELETE", path: "/v1/webhooks/\(id)", oneOf: [.organise, .operate]),
        .init(method: "POST", path: "/v1/webhooks/\(id)/secret", oneOf: [.organise, .operate]),
        .init(method: "POST", path: "/v1/webhooks/\(id)/test", oneOf: [.organise, .operate]),
        .init(method: "GET", path: "/v1/webhooks/\(id)/deliveries", oneOf: [.organise, .operate]),
        .init(method: "GET", path: "/v1/webhooks/\(id)/deliveries/\(id)", oneOf: [.organise, .operate]),
        .init(method: "POST", path: "/v1/webhooks/\(id)/deliveries/\(id)/replay", oneOf: [.organise, .operate]),
    ]

    /// Whether `path` is one of `template`'s, e.g. `/v1/apps/{bundleId}`.
    private static func matches(_ path: String, _ template: String) -> Bool {
        let (parts, places) = (path.split(separator: "/"), template.split(separator: "/"))
        return parts.count == places.count && zip(parts, places).allSatisfy { $1.hasPrefix("{") || $0 == $1 }
    }

    @Test func `every route wants a key that holds its scope`() async throws {
        try await Stage.with { stage in
            // What the router has is what is walked here, with the scope that is written here.
            for operation in stage.server.operations where operation.needsKey {
                let expected = Self.operations.filter {
                    $0.method == operation.method && Self.matches($0.path, operation.path)
                }
                #expect(!expected.isEmpty, "\(operation.method) \(operation.path) is not walked")
                #expect(expected.contains { $0.scopes == operation.scopes }, "\(operation.method) \(operation.path)")
            }
            var callers: [APIKey.Scope: HTTPCaller] = [:]
            for scope in APIKey.Scope.allCases { callers[scope] = try await stage.caller([scope]) }
            for operation in Self.operations {
                for secret in [nil, "", "gs_wrong", stage.api.secret.map { $0 + "x" }] {
                    let answer = try await HTTPCaller(url: stage.url, secret: secret)(operation.method, operation.path)
                    #expect(answer.status == 401, "\(operation) with \(secret ?? "no key")")
                    #expect(answer.slug == "unauthenticated")
                    #expect(answer.headers["www-authenticate"] == "Bearer")
                }
                for (scope, caller) in callers {
                    let answer = try await caller(operation.method, operation.path)
                    let mayPass = operation.scopes.isEmpty || operation.scopes.contains(scope) || scope == .admin
                    #expect((answer.status != 403) == mayPass, "\(operation) with \(scope.rawValue): \(answer.status)")
                    #expect(answer.status != 401 && answer.status < 500, "\(operation) with \(scope.rawValue)")
                    if !mayPass { #expect(answer.slug == "forbidden") }
                }
            }
        }
    }

    @Test func `a key for one app reaches no other`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent()
            try await stage.putApp("com.example.Other")
            try await stage.putEvent(
                "both",
                [
                    Stage.audience(.development, .noMessageStored),
                    Stage.audience(.development, .noMessageStored, of: "com.example.Other"),
                ])
            let all: Set<APIKey.Scope> = [.lookup, .organise, .operate]
            let own = try await stage.caller(all, app: "com.example.Stadium")
            let other = try await stage.caller(all, app: "com.example.Other")

            let id = try await stage.broadcast(#"{"event": "update", "contentState": {}}"#)
            let paths = [
                "/v1/apps/com.example.Stadium", "/v1/apps/com.example.Stadium/development/channels", "/v1/events/derby",
                "/v1/events/derby/broadcasts", "/v1/broadcasts/\(id)",
                "/v1/lookup/com.example.Stadium/development/derby",
            ]
            for path in paths {
                #expect(try await own("GET", path).status == 200, "\(path)")
                let answer = try await other("GET", path)
                #expect(answer.status == 403, "\(path)")
                #expect(answer.slug == "forbidden")
            }
            let update = #"{"event": "update", "contentState": {"n": 1}}"#
            #expect(try await other("POST", "/v1/events/derby/broadcasts", update).status == 403)
            #expect(try await other("DELETE", "/v1/events/derby").status == 403)
            #expect(try await other("DELETE", "/v1/broadcasts/\(id)").status == 403)
            // An event of two apps belongs to neither's key alone.
            #expect(try await own("POST", "/v1/events/both/broadcasts", update).status == 403)
            let takeover =
                #"{"name": "x", "audiences": [\#(Stage.audience(.production, .noMessageStored, of: "com.example.Other"))]}"#
            #expect(try await other("PUT", "/v1/events/derby", takeover).status == 403)

            #expect(
                try await other("GET", "/v1/apps").json["items"]?.items.compactMap { $0["bundleId"]?.string } == [
                    "com.example.Other"
                ])
            #expect(
                try await other("GET", "/v1/quotas").json["items"]?.items.allSatisfy {
                    $0["bundleId"]?.string == "com.example.Other"
                } == true)
            #expect(try await stage.api("GET", "/v1/events/derby/broadcasts").json["items"]?.items.count == 1)
        }
    }

    @Test func `a revoked key is no key`() async throws {
        try await Stage.with { stage in
            let (key, secret) = try await stage.server.keys.create(name: "short", scopes: [.admin], bundleID: nil)
            let caller = HTTPCaller(url: stage.url, secret: secret)
            #expect(try await caller("GET", "/v1/apps").status == 200)
            #expect(try await stage.server.keys.revoke(key.id, now: Date()))
            let answer = try await caller("GET", "/v1/apps")
            #expect(answer.status == 401)
            #expect(!answer.text.contains(secret))
        }
    }

    @Test func `probes need no key`() async throws {
        try await Stage.with { stage in
            let caller = HTTPCaller(url: stage.url, secret: nil)
            #expect(try await caller("GET", "/healthz").status == 200)
            let ready = try await caller("GET", "/readyz")
            #expect(ready.status == 200)
            #expect(ready.json["status"]?.string == "ready")
            #expect(ready.json["database"]?.string == "ok")
        }
    }
}

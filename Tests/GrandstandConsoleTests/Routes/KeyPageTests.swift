internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import JSON
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandConsole

/// Keys, webhooks and apps by their pages' forms: what the API is called with, and what is shown of its answers.
struct KeyPageTests {
    /// An API that answers each path with what it is given, and takes down the calls.
    private final class FakeAPI: Sendable {
        private let calls = Mutex<[APICall]>([])
        let answers: [String: APIAnswer]

        init(_ answers: [String: APIAnswer]) { self.answers = answers }

        var all: [APICall] { calls.withLock(\.self) }
        var bodies: [String] { all.compactMap(\.body).map { String(decoding: $0, as: UTF8.self) } }

        var world: ConsoleWorld {
            var world = ConsoleWorld()
            world.api = { call in
                self.calls.withLock { $0.append(call) }
                let name = "\(call.method) \(call.path.split(separator: "?")[0])"
                guard let answer = self.answers[name] else { throw Unasked(name) }
                return answer
            }
            return world
        }

        struct Unasked: Error {
            let name: String
            init(_ name: String) { self.name = name }
        }
    }

    private static func ok(_ json: String, _ status: Int = 200, etag: String? = nil) -> APIAnswer {
        APIAnswer(status: status, body: Array(json.utf8), etag: etag)
    }

    private static let id = "11111111-2222-4333-8444-555555555555"
    private static func key(_ more: String = "") -> String {
        #"{"id": "\#(id)", "name": "TV <b>", "scopes": ["lookup"], "bundleIds": ["com.example.Stadium"], "#
            + #""prefix": "gs_abc", "state": "active", "createdAt": "2026-11-21T20:45:00.000Z", "#
            + #""expiresAt": null, "revokedAt": null, "replacedBy": null, "lastUsedAt": null\#(more)}"#
    }

    @Test func `a key is made as the form says, and its secret is shown this once`() async throws {
        let api = FakeAPI(["POST /v1/keys": Self.ok(Self.key(#", "secret": "gs_new"#.appending("\"")), 201)])
        let answer = try await api.world.submit(
            "/console/keys",
            [
                ("name", "TV"), ("scope", "lookup"), ("scope", "organise"),
                ("bundleIds", "com.example.Stadium, com.example.Other"), ("expiresAt", "2027-01-01T12:00"),
            ])
        #expect(answer.status == 200)
        #expect(answer.body.contains(#"<code class="secret">gs_new</code>"#))
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(
            api.bodies == [
                #"{"name":"TV","scopes":["lookup","organise"],"bundleIds":["com.example.Stadium","com.example.Other"],"#
                    + #""expiresAt":"2027-01-01T12:00:00Z"}"#
            ])
        #expect(api.all[0].idempotencyKey?.hasPrefix("console-") == true)
        #expect(try await api.world.submit("/console/keys", [], as: "operate").status == 403)
    }

    @Test func `keys are listed and shown as text, each with what may be done`() async throws {
        let api = FakeAPI([
            "GET /v1/keys": Self.ok(#"{"items": [\#(Self.key())], "nextCursor": "n="}"#),
            "GET /v1/keys/\(Self.id)": Self.ok(Self.key()),
        ])
        let list = try await api.world.get("/console/keys")
        #expect(list.status == 200)
        #expect(list.body.contains("TV &lt;b&gt;") && list.body.contains("cursor=n%3D"))
        let page = try await api.world.get("/console/keys/\(Self.id)")
        #expect(page.body.contains(#"action="/console/keys/\#(Self.id)/revoke""#))
        #expect(page.body.contains(#"name="currentKey""#))
        #expect(try await api.world.get("/console/keys", as: "operate").status == 403)
    }

    @Test func `revoking and rotating take the key once more`() async throws {
        let api = FakeAPI([
            "DELETE /v1/keys/\(Self.id)": APIAnswer(status: 204),
            "POST /v1/keys/\(Self.id)/rotations": Self.ok(Self.key(#", "secret": "gs_next"#.appending("\"")), 201),
        ])
        for path in ["revoke", "rotate"] {
            #expect(try await api.world.submit("/console/keys/\(Self.id)/\(path)").status == 422)
        }
        #expect(api.all.isEmpty)
        let revoked = try await api.world.submit("/console/keys/\(Self.id)/revoke", [("currentKey", "admin")])
        #expect(revoked.location == "/console/keys")
        let rotated = try await api.world.submit(
            "/console/keys/\(Self.id)/rotate", [("currentKey", "admin"), ("overlapSeconds", "0")])
        #expect(rotated.body.contains("gs_next"))
        #expect(api.bodies == [#"{"overlapSeconds":0}"#])
    }

    @Test func `a webhook is paused with all else that was said of it`() async throws {
        let webhook =
            #"{"id": "\#(Self.id)", "url": "https://example.com/hook", "description": "TV", "#
            + #""topics": ["broadcast.settled"], "bundleIds": null, "enabled": true, "reason": null}"#
        let path = "/v1/webhooks/\(Self.id)"
        let api = FakeAPI([
            "GET \(path)": Self.ok(webhook, etag: "\"7\""), "PUT \(path)": Self.ok(webhook),
            "GET \(path)/deliveries": Self.ok(#"{"items": [], "nextCursor": null}"#),
            "DELETE \(path)": APIAnswer(status: 204), "POST \(path)/test": Self.ok("{}", 202),
        ])
        let paused = try await api.world.submit("/console/webhooks/\(Self.id)/pause", as: "organise")
        #expect(paused.location == "/console/webhooks/\(Self.id)")
        #expect(
            api.bodies == [
                #"{"url":"https://example.com/hook","description":"TV","topics":["broadcast.settled"],"enabled":false}"#
            ])
        #expect(api.all.last?.ifMatch == "\"7\"")
        let page = try await api.world.get("/console/webhooks/\(Self.id)", as: "organise")
        #expect(page.body.contains(#"name="etag" value="&quot;7&quot;""#))
        #expect(page.body.contains("No message fits."))
        let gone = try await api.world.submit(
            "/console/webhooks/\(Self.id)/delete", [("currentKey", "organise")], as: "organise")
        #expect(gone.location == "/console/webhooks")
    }

    @Test func `a PUT that was sent twice is done, one that another writer overtook is refused`() async throws {
        let app =
            #"{"bundleId": "com.example.Stadium", "name": "Stadium", "teamId": "TEAM123456", "keyId": "KEY1234567", "#
            + #""channelLimit": 100, "environments": {}, "quirks": []}"#
        let refused = APIAnswer(
            status: 412, problem: APIProblem(status: 412, title: "Version mismatch", detail: "Somebody was faster."))
        let api = FakeAPI([
            "GET /v1/apps/com.example.Stadium": Self.ok(app), "PUT /v1/apps/com.example.Stadium": refused,
        ])
        func fields(_ name: String) -> [(String, String)] {
            [
                ("name", name), ("teamId", "TEAM123456"), ("keyId", "KEY1234567"), ("channelLimit", "100"),
                ("etag", "\"3\""),
            ]
        }
        let twice = try await api.world.submit("/console/apps/com.example.Stadium", fields("Stadium"))
        #expect(twice.status == 303)
        let overtaken = try await api.world.submit("/console/apps/com.example.Stadium", fields("Arena"))
        #expect(overtaken.status == 412)
        #expect(overtaken.body.contains("It was changed meanwhile") && overtaken.body.contains(#"value="Arena""#))
        // The same form could only be refused again.
        #expect(!overtaken.body.contains("Send again") && overtaken.body.contains("Open the page again"))
        #expect(!overtaken.body.contains("&quot;3&quot;"))
        #expect(api.all.filter { $0.method == "PUT" }.allSatisfy { $0.ifMatch == "\"3\"" })
    }

    @Test func `an app's templates are shown where there are some, and stay where no field speaks of them`() throws {
        let answer = try JSONValue(parsing: Array(#"{"preview": {"compact": "{{home}}"}}"#.utf8))
        let samples = try Samples()
        #expect(AppForm(samples.registered(), answer: answer).previews.map(\.compact) == ["{{home}}"])
        #expect(AppForm(samples.registered()).previews.isEmpty)
        func body(_ fields: String) -> String {
            String(decoding: AppForm.body(FormFields("name=A&" + fields), present: answer), as: UTF8.self)
        }
        #expect(body("teamId=x").hasSuffix(#""preview":{"compact": "{{home}}"}}"#))
        #expect(body("preview.compact=&preview.expanded=y").hasSuffix(#""preview":{"expanded":"y"}}"#))
        #expect(!body("preview.compact=&preview.expanded=").contains("preview"))
    }
}

internal import ContractKit
internal import Foundation
internal import GrandstandClient
internal import GrandstandContract
internal import JSON
internal import Testing

/// The generated types read and write what openapi.yaml describes.
struct ContractTests {
    @Test(arguments: [true, false])
    func `every field of every schema is read and written, and absent ones are null or left out as openapi.yaml says`(
        _ isFull: Bool
    ) throws {
        let api = OpenAPIDocument.written
        #expect(Contract.values.count > 100)
        for (name, type) in Contract.values {
            let text = Data(try #require(api.schema(name), "\(name)").sample(in: api, isFull: isFull).utf8)
            do {
                let written = Data(JSONWriter.text(try JSONValue(decoding: text).decode(type)))
                #expect(try YAML(json: written) == YAML(json: text), "\(name): a field is lost or differs")
            } catch {
                Issue.record("\(name), \(isFull ? "with every field" : "with required fields only"): \(error)")
            }
        }
    }

    @Test func `members are in the contract's order, and users' JSON is kept byte for byte`() throws {
        var draft = Contract.EventDraft(name: "Derby", audiences: [])
        draft.metadata = try RawJSON(json: #"{"b": 1.50, "a": "\u26bd"}"#)
        #expect(
            String(decoding: JSONWriter.text(draft), as: UTF8.self)
                == ##"{"name":"Derby","audiences":[],"metadata":{"b": 1.50, "a": "\u26bd"}}"##)
        let page = Contract.EventPage(items: [])
        #expect(String(decoding: JSONWriter.text(page), as: UTF8.self) == #"{"items":[],"nextCursor":null}"#)
    }

    @Test func `a call has its operation's method, path, query and body, and an idempotency key if needed`()
        async throws
    {
        func request<Value>(_ call: GrandstandClient.Call<Value>) async throws -> GrandstandClient.Request {
            let seen = ScriptedTransport { _ in .init(status: 500) }
            let client = GrandstandClient(server: URL(filePath: "/"), key: nil, transport: seen, retry: .never)
            _ = try await client.exchange(call)
            return try #require(seen.requests.first)
        }
        let app = GrandstandClient.AppEnvironment("com.example.Stadium", .production)
        let identity = GrandstandClient.InstallationIdentity(app: app, installationId: "INSTALLATION", secret: "SECRET")
        let list = try await request(.listEvents(state: .live, season: "a b").page(limit: 5))
        #expect(list.method == "GET")
        #expect(list.url.absoluteString.hasSuffix("/v1/events?state=live&season=a%20b&limit=5"))
        let key = try await request(.createKey(name: "app", scopes: [.device]))
        #expect(key.body.map { String(decoding: $0, as: UTF8.self) } == #"{"name":"app","scopes":["device"]}"#)
        #expect(key.headers["Idempotency-Key"] != nil)
        let found = try await request(.lookupMany(["a", "b"], in: app))
        #expect(found.body.map { String(decoding: $0, as: UTF8.self) } == #"{"eventKeys":["a","b"]}"#)
        #expect(found.headers["Idempotency-Key"] == nil)
        let patch = try await request(.patchEvent("a/b", try RawJSON(json: #"{"name": "x"}"#)))
        #expect(patch.url.absoluteString.hasSuffix("/v1/events/a%2Fb"))
        #expect(patch.headers["Content-Type"] == "application/merge-patch+json")
        let activity = try await request(.forgetActivity("ID", of: identity))
        #expect(
            activity.url.absoluteString.hasSuffix(
                "/v1/apps/com.example.Stadium/production/installations/INSTALLATION/activities/ID"))
        #expect(activity.headers["Grandstand-Installation-Secret"] == "SECRET")
    }
}

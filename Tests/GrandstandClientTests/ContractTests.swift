internal import ContractKit
internal import Foundation
internal import GrandstandClient
internal import GrandstandContract
internal import JSON
internal import Testing

private func written(_ value: some Encodable) -> String { String(decoding: JSONWriter.text(value), as: UTF8.self) }

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
        #expect(written(draft) == #"{"name":"Derby","audiences":[],"metadata":{"b": 1.50, "a": "\u26bd"}}"#)
        let page = Contract.EventPage(items: [])
        #expect(written(page) == #"{"items":[],"nextCursor":null}"#)
    }

    @Test func `a call has its operation's method, path, query and body, and an idempotency key if needed`()
        async throws
    {
        /// Expects the call's request, and returns its headers.
        func headers<Value>(
            _ call: GrandstandClient.Call<Value>, _ method: String, _ path: String, _ body: String? = nil
        ) async throws -> [String: String] {
            let seen = ScriptedTransport { _ in .init(status: 500) }
            let client = GrandstandClient(server: URL(filePath: "/"), key: nil, transport: seen, retry: .never)
            _ = try await client.exchange(call)
            let request = try #require(seen.requests.first)
            #expect(request.method == method && request.url.absoluteString.hasSuffix("/v1/\(path)"))
            #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == body)
            return request.headers
        }
        let app = GrandstandClient.AppEnvironment("com.example.Stadium", .production)
        let identity = GrandstandClient.InstallationIdentity(app: app, installationId: "ID", secret: "SECRET")
        let place = "apps/com.example.Stadium/production"
        _ = try await headers(
            .listEvents(state: .live, season: "a b").page(limit: 5), "GET", "events?state=live&season=a%20b&limit=5")
        let key = #"{"name":"app","scopes":["device"]}"#
        let made = try await headers(.createKey(name: "app", scopes: [.device]), "POST", "keys", key)
        #expect(made["Idempotency-Key"] != nil)
        let keys = #"{"eventKeys":["a","b"]}"#
        let found = try await headers(
            .lookupMany(["a", "b"], in: app), "POST", "lookup/com.example.Stadium/production", keys)
        #expect(found["Idempotency-Key"] == nil)
        let name = #"{"name": "x"}"#
        let patched = try await headers(.patchEvent("a/b", try RawJSON(json: name)), "PATCH", "events/a%2Fb", name)
        #expect(patched["Content-Type"] == "application/merge-patch+json")
        let forgotten = try await headers(
            .forgetActivity("1", of: identity), "DELETE", "\(place)/installations/ID/activities/1")
        #expect(forgotten["Grandstand-Installation-Secret"] == "SECRET")
    }
}

extension YAML {
    /// Sample JSON for this schema.
    ///
    /// - Parameter isFull: with every property; otherwise with the required ones only, and null where allowed.
    func sample(in api: OpenAPIDocument, isFull: Bool) -> String {
        func sample(_ schema: YAML) -> String { schema.sample(in: api, isFull: isFull) }
        if let name = self["$ref"]?.string.map(OpenAPIDocument.last), let referred = api.schema(name) {
            return sample(referred)
        }
        if let alternatives = (self["anyOf"] ?? self["oneOf"])?.elements {
            let isNullable = alternatives.contains { $0["type"]?.string == "null" }
            let first = alternatives.first { $0["type"]?.string != "null" }
            return isNullable && !isFull ? "null" : first.map(sample) ?? "null"
        }
        let types = self["type"]?.string.map { [$0] } ?? self["type"]?.strings ?? []
        if types.contains("null"), !isFull { return "null" }
        switch types.first(where: { $0 != "null" }) {
        case "boolean": return "true"
        case "integer": return "5"
        case "number": return "0.50"
        case "array":
            let fixed = self["minItems"]?.number.map { Int($0) } ?? 1
            let element = self["items"].map(sample) ?? "\"any\""
            return "[\(Array(repeating: element, count: max(1, fixed)).joined(separator: ", "))]"
        case "object":
            let required = Set(self["required"]?.strings ?? [])
            var members = (self["properties"]?.members ?? []).filter { isFull || required.contains($0.name) }
                .map { "\"\($0.name)\": \(sample($0.value))" }
            if let other = self["additionalProperties"], case .map = other {
                members.append("\"other\": \(sample(other))")
            }
            return "{\(members.joined(separator: ", "))}"
        default:
            if let word = self["enum"]?.strings.first ?? self["examples"]?.strings.first { return word.quotedJSON }
            return self["format"]?.string == "date-time" ? "\"2026-11-21T20:45:00.250Z\"" : "\"text\""
        }
    }
}

/// Raw JSON, whose bytes must not change, and problem documents as they are received.
struct JSONTests {
    @Test func `a value is written by its own encoder and read by its decoder, which get the value of raw JSON`() throws
    {
        struct Score: Codable, Equatable {
            var home: Int
            var at: Date
            var raw: RawJSON
        }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .sortedKeys
        let score = Score(
            home: 1, at: Date(timeIntervalSince1970: 5), raw: try RawJSON(json: #"{"a": [1.5, null, true, "x"]}"#))
        let raw = try RawJSON(score, encoder: encoder)
        #expect(raw.description == #"{"at":5,"home":1,"raw":{"a":[1.5,null,true,"x"]}}"#)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        #expect(try raw.decode(Score.self, decoder: decoder).raw.description == #"{"a":[1.5,null,true,"x"]}"#)
    }

    @Test func `values of the API and of an app are decoded from raw JSON`() throws {
        let throttle = #"{"bundleId":"a","environment":"production","api":"device","since":"2026-11-21T20:45:00.250Z"}"#
        let read = try RawJSON(json: throttle).decode(GrandstandClient.ThrottleEnded.self)
        #expect(read.since == Date(timeIntervalSince1970: 1_795_293_900.25) && read.api == .device)
        let date = Date(timeIntervalSinceReferenceDate: 5)
        #expect(try RawJSON([date]).decode([Date].self) == [date])
    }

    @Test func `members are sorted, so the same value always gives the same bytes`() throws {
        struct State: Encodable {
            var f = 6, b = 2, c = 3, a = 1, e = 5, d = 4
        }
        #expect(try RawJSON(State()).description == #"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}"#)
    }

    @Test func `a problem document is read completely`() async throws {
        let text =
            #"{"type":"https://grandstand.dev/problems/unknown-field","title":"T","status":422,"detail":"D","requestId":"r","errors":[{"pointer":"/x","detail":"d"}],"apns":{"status":400,"reason":"BadX","requestId":null}}"#
        let transport = ScriptedTransport([
            { .init(status: 422, headers: ["Retry-After": "9"], body: Data(text.utf8)) }
        ])
        let problem = try #require(
            await #expect(throws: ServerProblem.self) {
                try await GrandstandClient.test(transport).send(.getEvent("derby"))
            })
        #expect(problem.kind == .unknownField)
        #expect(problem.status == 422)
        #expect(problem.errors.map(\.pointer) == ["/x"])
        #expect(problem.apns?.reason == "BadX")
        #expect(problem.requestId == "r")
        #expect(problem.retryAfter == 9)
        #expect("\(problem)" == "T: D")
    }

    @Test func `an unknown kind, or an answer that is not a problem document, is a problem of an unknown kind`()
        async throws
    {
        func problem(_ response: GrandstandClient.Answer) async throws -> ServerProblem {
            let transport = ScriptedTransport { _ in response }
            return try #require(
                await #expect(throws: ServerProblem.self) {
                    try await GrandstandClient.test(transport).send(.getEvent("derby"))
                })
        }
        let new = try await problem(.problem(418, "tea-pot"))
        #expect(new.kind == nil)
        #expect(new.slug == "tea-pot")
        let page = try await problem(.init(status: 403, body: Data("<html>".utf8)))
        #expect(page.kind == nil)
        #expect("\(page)" == "HTTP 403: <html>")
    }

    @Test func `an unknown value of an enumeration is kept`() throws {
        let text = #"{"state":"asleep","reason":null}"#
        let apns = try JSONValue(decoding: text.utf8).decode(GrandstandClient.APNsState.self)
        #expect(apns.state == .unknown("asleep"))
        #expect(written(apns) == text)
    }
}

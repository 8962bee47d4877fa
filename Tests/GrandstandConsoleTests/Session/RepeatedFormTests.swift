internal import Foundation
internal import Grandstand
internal import JSON
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandConsole

/// The same form, sent twice without scripts: what was done once is told twice.
struct RepeatedFormTests {
    private static let id = "11111111-2222-4333-8444-555555555555"

    /// An API that carries a POST out once and keeps its answer, and whose PUTs and DELETEs work once.
    private final class Desk: Sendable {
        let calls = Mutex<[APICall]>([])
        let there: Mutex<[String: String]>

        init(_ there: [String: String] = [:]) { self.there = Mutex(there) }

        var world: ConsoleWorld {
            var world = ConsoleWorld()
            let (kept, samples) = (Kept(), try? Samples())
            world.api = { call in
                self.calls.withLock { $0.append(call) }
                return try await kept.answer(call) { self.answer(call) }
            }
            world.kept = { call in
                try await kept.answer(call) { throw Problem(.unauthenticated, "Nothing is kept.") }
            }
            world.apps.find = { _ in samples?.registered() }
            world.apps.list = { _, _ in Page(items: [], nextCursor: nil) }
            return world
        }

        private func answer(_ call: APICall) -> APIAnswer {
            there.withLock { there in
                let body = call.body.map { String(decoding: $0, as: UTF8.self) }
                switch call.method {
                case "PUT", "PATCH":
                    // The version that there was before.
                    guard call.ifNoneMatch == nil || there[call.path] == nil, call.ifMatch != "\"1\"" else {
                        return refused(412)
                    }
                    there[call.path] = body
                    return APIAnswer(status: 201, body: Array("{}".utf8))
                case "GET": return there[call.path].map { APIAnswer(status: 200, body: Array($0.utf8)) } ?? refused(404)
                case "DELETE":
                    return there.removeValue(forKey: call.path) == nil ? refused(404) : APIAnswer(status: 204)
                default:
                    return APIAnswer(
                        status: 201, body: Array(#"{"id": "2", "name": "desk", "secret": "gs_\#(UUID())"}"#.utf8))
                }
            }
        }

        private func refused(_ status: Int) -> APIAnswer {
            APIAnswer(status: status, problem: APIProblem(status: status, title: "Refused", detail: "It was refused."))
        }
    }

    private final class Kept: Sendable {
        private let answers = Mutex<[String: APIAnswer]>([:])

        func answer(_ call: APICall, _ work: () async throws -> APIAnswer) async throws -> APIAnswer {
            guard let key = call.idempotencyKey else { return try await work() }
            if let known = answers.withLock({ $0[key] }) { return known }
            let answer = try await work()
            answers.withLock { $0[key] = answer }
            return answer
        }
    }

    private static func secret(_ answer: ConsoleWorld.Answer) -> String? {
        answer.body.firstMatch(of: /<code class="secret">([^<]+)</).map { String($0.1) }
    }

    /// With an overlap the key goes on for calls, without one it is over at once.
    @Test(arguments: [true, false])
    func `rotating the key one is signed in with shows its secret again, to who knows the key`(
        overlaps: Bool
    ) async throws {
        let desk = Desk()
        let world = desk.world
        let session = world.session("admin")
        let id = ConsoleWorld.id(of: "admin")
        let token = FormToken.text(for: session, now: world.now())
        func rotate(_ key: String = "admin") async throws -> ConsoleWorld.Answer {
            try await world.post(
                "/console/keys/\(id.uuidString)/rotate", [("token", token), ("currentKey", key)], in: session)
        }
        let first = try await rotate()
        var key = try #require(try await world.sessions.validKey(id))
        key.replacedBy = UUID()
        world.sessions.setKey(id, overlaps ? key : nil)
        let again = try await rotate()
        #expect(again.status == 200 && first.status == 200)
        #expect(Self.secret(again) == Self.secret(first) && Self.secret(first) != nil)
        #expect(desk.calls.withLock(\.count) == 1)
        // Nobody else's, and not without the key that was typed.
        for key in ["", "gs_other"] {
            let other = try await rotate(key)
            #expect(other.status == 401 && Self.secret(other) == nil)
            #expect(other.body.contains(overlaps ? "which was shown once" : "rotated without an overlap"))
            #expect(other.body.contains("Nothing was sent."))
        }
        let foreign = try await world.post(
            "/console/keys/\(id.uuidString)/rotate",
            [("token", FormToken.text(for: SessionSecret(), now: world.now())), ("currentKey", "admin")], in: session)
        #expect(foreign.status == 401 && Self.secret(foreign) == nil)
        #expect(desk.calls.withLock(\.count) == 1)
    }

    @Test func `an event is declared by the first of two, and told by the second`() async throws {
        // As the API writes what it was told.
        let desk = Desk()
        let event = [
            ("key", "final"), ("name", "Final"), ("startsAt", "2026-11-28T14:30"), ("topics", "b a"),
            ("audiences", "com.example.Stadium production noMessageStored"),
        ]
        let path = "/console/season/declare"
        let first = try await desk.world.submit(path, event, as: "organise")
        #expect(first.status == 303, "\(first.body)")
        desk.there.withLock { there in
            there["/v1/events/final"] =
                #"{"key": "final", "state": "scheduled", "name": "Final", "kind": null, "topics": ["a", "b"], "#
                + #""startsAt": "2026-11-28T14:30:00.000Z", "audiences": [{"bundleId": "com.example.Stadium", "#
                + #""environment": "production", "storagePolicy": "noMessageStored", "channel": {"state": "none"}}]}"#
        }
        let second = try await desk.world.submit(path, event, as: "organise")
        #expect(second.status == 303 && second.location == first.location, "\(second.body)")
        // Another one of that name was there before.
        let other = event.map { $0.0 == "name" ? ("name", "Semi") : $0 }
        let refused = try await desk.world.submit(path, other, as: "organise")
        #expect(refused.status == 412 && refused.body.contains("It was changed or deleted since"))
    }

    @Test func `an event that was moved as this form says is moved`() async throws {
        let moved = #"{"startsAt": "2026-11-28T14:30:00.000Z", "endsAt": null, "version": 8}"#
        let desk = Desk(["/v1/events/derby": moved])
        func move(_ time: String) async throws -> ConsoleWorld.Answer {
            try await desk.world.submit(
                "/console/events/derby/move", [("startsAt", time), ("endsAt", ""), ("version", "1")], as: "organise")
        }
        #expect(try await move("2026-11-28T14:30").status == 303)
        #expect(try await move("2026-11-28T15:00").status == 412)
    }

    @Test(arguments: [
        ("/console/apps/com.example.Stadium/delete", "/v1/apps/com.example.Stadium", "/console/apps"),
        (
            "/console/apps/com.example.Stadium/production/channels/\(id)/delete",
            "/v1/apps/com.example.Stadium/production/channels/\(id)",
            "/console/apps/com.example.Stadium/production/channels"
        ),
        ("/console/webhooks/\(id)/delete", "/v1/webhooks/\(id)", "/console/webhooks"),
    ])
    func `what is deleted is deleted`(path: String, called: String, place: String) async throws {
        let desk = Desk([called: "{}"])
        for _ in 0..<2 {
            let answer = try await desk.world.submit(path, [("currentKey", "admin")])
            #expect(answer.status == 303 && answer.location == place, "\(answer.body)")
        }
        #expect(
            desk.calls.withLock { $0.map { "\($0.method) \($0.path)" } }
                == Array(repeating: "DELETE \(called)", count: 2))
    }

    @Test(arguments: [
        (#"{"a": 1, "b": null, "c": []}"#, #"{"a": 1.0, "d": 2}"#, true),
        (#"{"a": {"b": 1}}"#, #"{"a": {"b": 2}}"#, false),
        (#"{"a": "2026-01-01T00:00:00Z"}"#, #"{"a": "2026-01-01T01:00:00.000+01:00"}"#, true),
        (#"{"a": [1, 2]}"#, #"{"a": [2, 1]}"#, true), (#"{"a": [1, 1]}"#, #"{"a": [1, 2]}"#, false),
        (#"{"a": [1]}"#, #"{"a": [1, 2]}"#, false), (#"{"a": "x"}"#, "{}", false),
        (#"{"a": {}}"#, #"{"a": null}"#, true),
        (#"{"a": "1"}"#, #"{"a": 1}"#, false), (#"{"a": true}"#, #"{"a": false}"#, false),
    ])
    func `what is there says what was wanted, however it is written`(wanted: String, present: String, says: Bool) throws
    {
        let (wanted, present) = try (
            JSONValue(parsing: Array(wanted.utf8)), JSONValue(parsing: Array(present.utf8))
        )
        #expect(present.says(wanted) == says)
    }
}

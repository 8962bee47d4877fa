internal import APNsWire
internal import Foundation
internal import Grandstand
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandConsole

/// What organisers' forms ask of the API, and what becomes of its answers.
struct OrganiseRouteTests {
    /// What the API was called with.
    private final class Calls: Sendable {
        private let calls = Mutex<[APICall]>([])
        func add(_ call: APICall) { calls.withLock { $0.append(call) } }
        var lines: [String] {
            calls.withLock(\.self).map { call in
                "\(call.method) \(call.path) \(String(decoding: call.body ?? [], as: UTF8.self))"
            }
        }
        var last: APICall? { calls.withLock(\.last) }
    }

    private static func world(
        _ calls: Calls, _ state: Event.State = .live, answer: @escaping @Sendable (APICall) throws -> APIAnswer
    ) throws -> ConsoleWorld {
        let samples = try Samples()
        let message = try samples.message([samples.delivery(.accepted)])
        var world = ConsoleWorld()
        world.apps.find = { _ in samples.registered() }
        world.apps.list = { _, _ in Page(items: [samples.registered()], nextCursor: nil) }
        world.events.find = { _ in samples.event(state) }
        world.outbox.list = { _, _, _ in Page(items: [message], nextCursor: nil) }
        world.outbox.find = { $0 == message.id ? message : nil }
        world.api = { call in
            calls.add(call)
            return try answer(call)
        }
        return world
    }

    private static let id = "11111111-2222-4333-8444-555555555555"

    @Test func `an update is previewed, then sent`() async throws {
        let calls = Calls()
        let answered = try Samples().answered
        let world = try Self.world(calls) { call in
            call.path.hasSuffix("/preview")
                ? answered
                : APIAnswer(status: 202, body: Array(#"{"state": "queued", "warnings": ["It is long."]}"#.utf8))
        }
        let composer = try await world.get("/console/events/derby/compose", as: "organise")
        #expect(composer.body.contains("&quot;home&quot;: 1,"))
        let form = [("event", "update"), ("contentState", #"{"home": 2}"#)]
        let preview = try await world.submit("/console/events/derby/preview", form, as: "organise")
        #expect(preview.status == 200)
        for text in ["1,312 of 4,096 bytes", "1 – 0", "1 message that waits would not be sent"] {
            #expect(preview.body.contains(text), "\(text)")
        }
        let sent = try await world.submit("/console/events/derby/send", form, as: "organise")
        #expect(sent.status == 303 && sent.location == "/console/events/derby")
        #expect(
            calls.lines == [
                #"POST /v1/events/derby/broadcasts/preview {"event":"update","contentState":{"home":2}}"#,
                #"POST /v1/events/derby/broadcasts {"event":"update","contentState":{"home":2}}"#,
            ])
    }

    @Test func `an end is asked about before it is sent`() async throws {
        let calls = Calls()
        let answered = try Samples().answered
        let world = try Self.world(calls) { call in
            call.path.hasSuffix("/preview")
                ? answered : APIAnswer(status: 202, body: Array(#"{"state": "queued", "warnings": []}"#.utf8))
        }
        let asked = try await world.submit("/console/events/derby/send", [("event", "end")], as: "organise")
        #expect(asked.status == 200 && asked.body.contains("Is it really over?"))
        #expect(calls.lines == [#"POST /v1/events/derby/broadcasts/preview {"event":"end"}"#])
        let sent = try await world.submit(
            "/console/events/derby/send", [("event", "end"), ("confirmed", "yes")], as: "organise")
        #expect(sent.status == 303)
        #expect(calls.lines.last == #"POST /v1/events/derby/broadcasts {"event":"end"}"#)
    }

    @Test func `what cannot be a message, or is refused, comes back as it was typed`() async throws {
        let calls = Calls()
        let problem = APIProblem(
            status: 413, title: "Too large", detail: "The message would have 6,000 bytes.",
            faults: [.init(pointer: "/contentState", detail: "too long")])
        let world = try Self.world(calls) { _ in APIAnswer(status: 413, problem: problem) }
        let typed = try await world.submit(
            "/console/events/derby/send", [("contentState", "{<b>"), ("alertTitle", "Goal")], as: "organise")
        #expect(typed.status == 422 && calls.lines.isEmpty)
        #expect(typed.body.contains("{&lt;b&gt;") && typed.body.contains(#"value="Goal""#))
        let refused = try await world.submit(
            "/console/events/derby/send", [("contentState", "{}")], as: "organise")
        #expect(refused.status == 413 && refused.body.contains("6,000 bytes. Nothing was sent."))
    }

    @Test(
        arguments: [
            ("broadcasts/\(id)/withdraw", [], "DELETE /v1/broadcasts/\(id) "),
            ("cancel", [("end", "true")], "DELETE /v1/events/derby?end=true "),
            ("cancel", [("end", "false")], "DELETE /v1/events/derby "),
            ("reopen", [], "POST /v1/events/derby/reopen {}"),
            ("start", [], "POST /v1/events/derby/starts {}"), ("stop", [], "DELETE /v1/events/derby/starts "),
            (
                "move", [("startsAt", "2026-11-28T14:30"), ("endsAt", ""), ("version", "7")],
                #"PATCH /v1/events/derby {"startsAt":"2026-11-28T14:30:00Z","endsAt":null}"#
            ),
        ] as [(String, [(String, String)], String)])
    func `an action is one call of the API`(path: String, form: [(String, String)], line: String) async throws {
        let calls = Calls()
        let world = try Self.world(calls) { _ in APIAnswer(status: 200, body: Array("{}".utf8)) }
        let answer = try await world.submit("/console/events/derby/\(path)", form, as: "organise")
        #expect(answer.status == 303 && answer.location == "/console/events/derby", "\(answer.body)")
        #expect(calls.lines == [line])
        if path == "move" { #expect(calls.last?.ifMatch == #""7""#) }
        // Of another scope, and without a form of ours: nothing.
        #expect(try await world.submit("/console/events/derby/\(path)", form, as: "lookup").status == 403)
        let foreign = try await world.post("/console/events/derby/\(path)", form, in: world.session("organise"))
        #expect(foreign.status == 403)
        #expect(calls.lines.count == 1)
    }

    @Test(arguments: ["cancel", "reopen"])
    func `questions say what will be, and change nothing`(verb: String) async throws {
        let calls = Calls()
        let world = try Self.world(calls) { _ in throw Problem(.internalError, "unasked") }
        let page = try await world.get("/console/events/derby/\(verb)", as: "organise")
        #expect(page.status == 200)
        #expect(page.body.contains(#"<form method="post" action="/console/events/derby/\#(verb)""#))
        #expect(page.body.contains("over"))
        #expect(verb != "cancel" || page.body.contains("until they are stale or twelve hours old"))
        #expect(calls.lines.isEmpty)
    }

    @Test func `an event is declared once, and what is wrong with it is told`() async throws {
        let calls = Calls()
        let world = try Self.world(calls) { _ in APIAnswer(status: 201, body: Array("{}".utf8)) }
        let form = [
            ("key", "final"), ("name", "Final"), ("audiences", "com.example.Stadium production noMessageStored"),
        ]
        let answer = try await world.submit("/console/season/declare", form, as: "organise")
        #expect(answer.location == "/console/events/final")
        #expect(calls.last?.ifNoneMatch == "*")
        let wrong = try await world.submit("/console/season/declare", [("key", "a b"), ("name", "x")], as: "organise")
        #expect(wrong.status == 422 && wrong.body.contains("<code>key</code>"))
        #expect(calls.lines.count == 1)
    }

    @Test func `a name that is taken and a version that is outdated are told without headers`() async throws {
        let calls = Calls()
        let taken = APIProblem(status: 412, title: "The version differs", detail: WriteCondition.taken.detail)
        let world = try Self.world(calls) { call in
            APIAnswer(
                status: 412,
                problem: call.ifNoneMatch == nil
                    ? APIProblem(status: 412, title: "The version differs", detail: "GET it again") : taken)
        }
        let declared = try await world.submit(
            "/console/season/declare",
            [("key", "final"), ("name", "Final"), ("audiences", "com.example.Stadium production noMessageStored")],
            as: "organise")
        #expect(declared.status == 412 && declared.body.contains("There is one of this name already."))
        #expect(!declared.body.contains("If-None-Match"))
        let moved = try await world.submit(
            "/console/events/derby/move", [("startsAt", ""), ("version", "7")], as: "organise")
        #expect(moved.status == 412 && moved.body.contains("It was changed meanwhile"))
        #expect(!moved.body.contains("GET it again") && !moved.body.contains("Send again"))
    }

    @Test func `a reconciliation that nothing brings back asks for the key again`() async throws {
        let calls = Calls()
        let world = try Self.world(calls) { _ in
            APIAnswer(status: 201, body: Array(#"{"id": "\#(Self.id)"}"#.utf8))
        }
        let place = "/console/apps/com.example.Stadium/production/reconciliations"
        let looked = try await world.submit(place + "/run/look", as: "operate")
        #expect(looked.location == place + "/" + Self.id)
        let question = try await world.get(place + "/run/delete-unmanaged", as: "operate")
        #expect(question.body.contains("currentKey") && question.body.contains("Apple cannot give a channel back"))
        let without = try await world.submit(place + "/run/delete-unmanaged", as: "operate")
        #expect(without.status != 303)
        let with = try await world.submit(
            place + "/run/delete-unmanaged", [("currentKey", "operate")], as: "operate")
        #expect(with.status == 303, "\(with.body)")
        #expect(
            calls.lines == [
                "POST /v1/apps/com.example.Stadium/production/reconciliations {}",
                #"POST /v1/apps/com.example.Stadium/production/reconciliations {"apply":true,"deleteUnmanaged":true}"#,
            ])
        #expect(try await world.submit(place + "/run/look", as: "organise").status == 403)
    }

    @Test func `a key of one app sees nothing of another's event`() async throws {
        let calls = Calls()
        var world = try Self.world(calls) { _ in throw Problem(.internalError, "unasked") }
        var event = try Samples().event()
        event.specification.audiences[0].id.bundleID = try #require(BundleID(rawValue: "com.example.Other"))
        world.events.find = { [event] _ in event }
        for path in ["", "/compose", "/cancel", "/reopen", "/start"] {
            let answer = try await world.get("/console/events/derby" + path, as: "organise@")
            #expect(answer.status == 403, "\(path)")
            #expect(!answer.body.contains("com.example.Other"))
        }
        #expect(
            try await world.submit("/console/events/derby/preview", [("contentState", "{}")], as: "organise@").status
                == 403)
        #expect(calls.lines.isEmpty)
    }
}

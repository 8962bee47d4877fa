internal import APNsWire
internal import Foundation
internal import Grandstand
internal import JSON
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandHTTP

/// Which calls organisers' forms make, and how the results are shown.
struct OrganiseRouteTests {
    /// The calls that the ports received.
    private final class Asked: Sendable {
        private let asked = Mutex<[String]>([])
        func add(_ line: String) { asked.withLock { $0.append(line) } }
        var lines: [String] { asked.withLock(\.self) }
    }

    private static func world(
        _ asked: Asked, _ state: Event.State = .live, refusal: Problem? = nil
    ) throws -> ConsoleWorld {
        let samples = try Samples()
        let message = try samples.message([samples.delivery(.accepted)])
        let rehearsed = try samples.rehearsed().rehearsal
        let begun = samples.start()
        @Sendable func line(_ verb: String, _ intake: BroadcastIntake) -> String {
            let payload = intake.request.payload
            return "\(verb) \(payload.event) \(payload.contentState.map { String(decoding: $0, as: UTF8.self) } ?? "")"
        }
        @Sendable func ask(_ line: String) throws {
            asked.add(line)
            if let refusal { throw refusal }
        }
        var event = samples.event(state)
        event.version = 7
        var registered = samples.registered()
        registered.preview = AppPreview(compact: "{{home}} – {{away}}")
        var world = ConsoleWorld()
        world.apps.find = { [registered] _ in registered }
        world.apps.list = { [registered] _, _ in Page(items: [registered], nextCursor: nil) }
        world.events.find = { [event] _ in event }
        world.events.save = { [event] specification, _, condition in
            try ask(
                "put \(specification.key) \(specification.startsAt.map(RFC3339.text) ?? "-") "
                    + "\(specification.endsAt.map(RFC3339.text) ?? "-") \(condition)")
            return (event, created: true)
        }
        world.events.end = { key, sendsEnd, _ in try ask("cancel \(key) \(sendsEnd)") }
        world.events.takeBack = { [event] key, _, _ in
            try ask("reopen \(key)")
            return Reopening(event: event, parts: [])
        }
        world.starts.tell = { _, outlook in [begun] }
        world.starts.ask = { key, _ in try ask("start \(key)") }
        world.starts.halt = { key, _ in try ask("stop \(key)") }
        world.outbox.list = { _, _, _ in Page(items: [message], nextCursor: nil) }
        world.outbox.find = { $0 == message.id ? message : nil }
        world.outbox.withdraw = { id in
            try ask("withdraw \(id.words)")
            return true
        }
        world.outbox.rehearsal = { intake in
            try ask(line("preview", intake))
            return rehearsed
        }
        world.outbox.take = { intakes in
            intakes.map { intake in
                asked.add(line("accept", intake))
                return refusal.map(Result.failure) ?? .success(message)
            }
        }
        return world
    }

    private static let id = "11111111-2222-4333-8444-555555555555"

    @Test func `an update is previewed and then sent`() async throws {
        let asked = Asked()
        let world = try Self.world(asked)
        let composer = try await world.get("/console/events/derby", as: "organise")
        #expect(composer.body.contains("&quot;home&quot;: 1,"))
        let form = [("event", "update"), ("contentState", #"{"home": 2}"#)]
        let preview = try await world.submit("/console/events/derby/preview", form, as: "organise")
        #expect(preview.status == 200 && preview.body.contains("On the lock screen"))
        for text in ["1,312 of 4,096 bytes", "1 – 0", "1 message that waits would not be sent"] {
            #expect(preview.body.contains(text), "\(text)")
        }
        let sent = try await world.submit("/console/events/derby/send", form, as: "organise")
        #expect(sent.status == 303 && sent.location == "/console/events/derby#compose")
        #expect(asked.lines == [#"preview update {"home":2}"#, #"accept update {"home":2}"#])
    }

    @Test func `while a message is typed only the findings are sent, and a refusal is a normal answer`() async throws {
        let asked = Asked()
        let form = [("event", "end"), ("contentState", #"{"home": 2}"#), ("check", "yes")]
        let found = try await Self.world(asked).submit("/console/events/derby/preview", form, as: "organise")
        #expect(found.status == 200 && !found.body.contains("<html") && !found.body.contains("<form"))
        #expect(found.body.contains("At most 1,312 of 4,096 bytes, 1 warning"))
        // This check does not ask whether the event is really over. The question comes only before the message is sent.
        #expect(!found.body.contains("Is it really over?"))
        var refusal = Problem(.contentMismatch, "Phones cannot decode this content.")
        refusal.errors = [FieldError(pointer: "/contentState/home", detail: "A string was expected.")]
        let refused = try await Self.world(asked, refusal: refusal)
            .submit("/console/events/derby/preview", form, as: "organise")
        #expect(refused.status == 200 && refused.body.contains("1 place to correct."))
        #expect(refused.body.contains(#"data-fault="/contentState/home""#))
        let typing = try await Self.world(asked)
            .submit("/console/events/derby/preview", [("contentState", "{"), ("check", "yes")], as: "organise")
        #expect(typing.status == 200 && typing.body.contains(#"data-fault="contentState""#))
        #expect(asked.lines.count == 2)
    }

    @Test func `an end is confirmed before it is sent`() async throws {
        let asked = Asked()
        let world = try Self.world(asked)
        let question = try await world.submit("/console/events/derby/send", [("event", "end")], as: "organise")
        #expect(question.status == 200 && question.body.contains("Is it really over?"))
        #expect(asked.lines == ["preview end "])
        let sent = try await world.submit(
            "/console/events/derby/send", [("event", "end"), ("confirmed", "yes")], as: "organise")
        #expect(sent.status == 303)
        #expect(asked.lines.last == "accept end ")
    }

    @Test func `an invalid or refused message is shown as it was typed`() async throws {
        let asked = Asked()
        let world = try Self.world(
            asked, refusal: Problem(.bodyTooLarge, "The message would have 6,000 bytes."))
        let typed = try await world.submit(
            "/console/events/derby/send", [("contentState", "{<b>"), ("alertTitle", "Goal")], as: "organise")
        #expect(typed.status == 422 && asked.lines.isEmpty)
        #expect(typed.body.contains("{&lt;b&gt;") && typed.body.contains(#"value="Goal""#))
        for verb in ["send", "preview"] {
            let refused = try await world.submit(
                "/console/events/derby/" + verb, [("contentState", "{}")], as: "organise")
            #expect(refused.status == 413 && refused.body.contains("6,000 bytes. Nothing was sent."))
        }
    }

    @Test(
        arguments: [
            ("broadcasts/\(id)/withdraw", [], "withdraw \(id)"), ("cancel", [("end", "true")], "cancel derby true"),
            ("cancel", [("end", "false")], "cancel derby false"), ("reopen", [], "reopen derby"),
            ("start", [], "start derby"), ("stop", [], "stop derby"),
            (
                "move", [("startsAt", "2026-11-28T14:30"), ("endsAt", ""), ("version", "7")],
                "put derby 2026-11-28T14:30:00.000Z - \(WriteCondition.versions([7]))"
            ),
        ] as [(String, [(String, String)], String)])
    func `each action calls one operation`(path: String, form: [(String, String)], line: String) async throws {
        let asked = Asked()
        let world = try Self.world(asked)
        let answer = try await world.submit("/console/events/derby/\(path)", form, as: "organise")
        #expect(answer.status == 303 && answer.location == "/console/events/derby", "\(answer.body)")
        #expect(asked.lines == [line])
        // With another scope, or without a valid form, no port is called.
        #expect(try await world.submit("/console/events/derby/\(path)", form, as: "lookup").status == 403)
        let foreign = try await world.post("/console/events/derby/\(path)", form, in: world.session("organise"))
        #expect(foreign.status == 403)
        #expect(asked.lines.count == 1)
    }

    @Test(arguments: [("cancel", "stale or twelve hours old"), ("reopen", "cannot be restored")])
    func `a confirmation page says what will happen and changes nothing`(verb: String, consequence: String) async throws
    {
        let asked = Asked()
        let world = try Self.world(asked)
        let page = try await world.get("/console/events/derby/\(verb)", as: "organise")
        #expect(page.status == 200)
        #expect(page.body.contains(#"<form method="post" action="/console/events/derby/\#(verb)""#))
        #expect(page.body.contains(consequence))
        #expect(asked.lines.isEmpty)
    }

    @Test func `an event is declared once, and its faults are shown`() async throws {
        let asked = Asked()
        let world = try Self.world(asked)
        let form = [
            ("key", "final"), ("name", "Final"), ("audiences", "com.example.Stadium production noMessageStored"),
        ]
        let answer = try await world.submit("/console/season/declare", form, as: "organise")
        #expect(answer.location == "/console/events/final")
        #expect(asked.lines == ["put final - - \(WriteCondition.absent)"])
        let wrong = try await world.submit("/console/season/declare", [("key", "a b"), ("name", "x")], as: "organise")
        #expect(wrong.status == 422 && wrong.body.contains("<code>key</code>"))
        #expect(asked.lines.count == 1)
    }

    @Test func `a taken name and an outdated version are reported without API headers`() async throws {
        let asked = Asked()
        let world = try Self.world(asked, refusal: WriteCondition.taken)
        let declared = try await world.submit(
            "/console/season/declare",
            [("key", "final"), ("name", "Final"), ("audiences", "com.example.Stadium production noMessageStored")],
            as: "organise")
        #expect(declared.status == 412 && declared.body.contains("This name is already used."))
        #expect(!declared.body.contains("If-None-Match"))
        let moved = try await world.submit(
            "/console/events/derby/move", [("startsAt", ""), ("version", "6")], as: "organise")
        #expect(moved.status == 412 && moved.body.contains("It was changed meanwhile"))
        #expect(!moved.body.contains("If-Match") && !moved.body.contains("Send again"))
    }

    @Test func `a reconciliation that cannot be undone asks for the key again`() async throws {
        let ended = Mutex<[Bool]>([])
        var world = ConsoleWorld()
        let id = try #require(UUID(uuidString: Self.id))
        world.apps.find = { _ in try Samples().registered() }
        world.reconciliations.start = { _ in
            ReconciliationRun(id: id, address: Sample.address, startedAt: Samples.now, failures: 0)
        }
        world.gateway.list = { _ in .accepted(ChannelListing(channelIDs: []), .init(requestID: nil)) }
        world.reconciliations.compare = { _ in LedgerSnapshot(entries: [], unmanaged: [], listedAt: Samples.now) }
        world.reconciliations.hold = {}
        world.reconciliations.end = { report in ended.withLock { $0.append(report.applied) } }
        let place = "/console/apps/com.example.Stadium/production/reconciliations"
        let looked = try await world.submit(place + "/run/look", as: "operate")
        #expect(looked.location?.hasPrefix(place + "/") == true, "\(looked.body)")
        let question = try await world.get(place + "/run/delete-unmanaged", as: "operate")
        #expect(question.body.contains("currentKey") && question.body.contains("Apple cannot give a channel back"))
        let without = try await world.submit(place + "/run/delete-unmanaged", as: "operate")
        #expect(without.status != 303)
        let with = try await world.submit(
            place + "/run/delete-unmanaged", [("currentKey", "operate")], as: "operate")
        #expect(with.status == 303, "\(with.body)")
        #expect(ended.withLock(\.self) == [false, true])
        #expect(try await world.submit(place + "/run/look", as: "organise").status == 403)
    }

    @Test func `a manual reconciliation does what its button says`() {
        let limits = ReconciliationLimits(grace: 60, deleteBudget: 7)
        func options(_ doing: Reconciling) -> ReconciliationOptions { doing.options(within: limits) }
        #expect(options(.look) == ReconciliationOptions(apply: false, grace: 60, deleteBudget: 7))
        #expect(options(.apply) == ReconciliationOptions(apply: true, grace: 60, deleteBudget: 7))
        #expect(options(.adopt) == ReconciliationOptions(apply: true, adopt: true, grace: 60, deleteBudget: 7))
        #expect(
            options(.deleteUnmanaged)
                == ReconciliationOptions(apply: true, deleteUnmanaged: true, grace: 60, deleteBudget: 7))
        #expect(options(.recreate) == ReconciliationOptions(apply: true, recreate: true, grace: 60, deleteBudget: 7))
    }

    @Test func `a key of one app sees nothing of another app's event`() async throws {
        let asked = Asked()
        var world = try Self.world(asked)
        var event = try Samples().event()
        event.specification.audiences[0].id.bundleID = try #require(BundleID(rawValue: "com.example.Other"))
        world.events.find = { [event] _ in event }
        for path in ["", "/cancel", "/reopen", "/start"] {
            let answer = try await world.get("/console/events/derby" + path, as: "organise@")
            #expect(answer.status == 404, "\(path)")
            #expect(!answer.body.contains("com.example.Other"))
        }
        #expect(
            try await world.submit("/console/events/derby/preview", [("contentState", "{}")], as: "organise@").status
                == 404)
        #expect(asked.lines.isEmpty)
    }
}

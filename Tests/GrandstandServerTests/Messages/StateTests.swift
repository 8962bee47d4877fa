internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandServer

/// States of events. The message that is sent for a state is decided under the event's lock.
struct StateTests {
    private static let declaration = #"""
        {"check": "refuse",
         "versions": [{"name": "3.2", "schema":
            {"properties": {"home": {"type": "integer"}, "clock": {}}, "required": ["home"]}}],
         "rules": {"quiet": ["/clock"], "quietInterval": 20,
            "rings": [{"when": {"increases": "/home"}, "alert": {"title": "Goal", "body": "{old:home} → {home}"}}]}}
        """#

    /// Runs a test with an event whose app has the content type.
    private static func withContent(_ body: (StoreWorld) async throws -> Void) async throws {
        try await withEvent { stores in
            try await stores.declareContent(declaration)
            try await body(stores)
        }
    }

    private static func content(_ home: Int, _ clock: Int = 0) -> String {
        #"{"home": \#(home), "clock": "\#(clock)"}"#
    }

    @Test func `by the newest content a clock is quiet, a goal rings and a repetition does nothing`() async throws {
        try await Self.withContent { stores in
            #expect(try await stores.tell(Self.content(0))?.outcome == .update)
            #expect(try await stores.tell(#"{"clock":"0","home":0.0}"#) == nil)
            try await stores.sendOne()
            let goal = try #require(try await stores.tell(Self.content(1)))
            #expect((goal.outcome, goal.rule) == (.rings, 0))
            stores.clock.advance(by: 2)
            let sent = try await stores.sendOne()
            #expect(sent.message.priority == .immediate)
            #expect(
                sent.text
                    == #"{"aps":{"timestamp":1700000002,"event":"update","content-state":{"home": 1, "clock": "0"},"#
                    + #""alert":{"title":"Goal","body":"0 → 1"}}}"#)
            let read = try #require(try await stores.read(goal))
            #expect((read.outcome, read.rule) == (.rings, 0))
            // A quiet change waits until the interval since the last one is over.
            try await stores.tell(Self.content(1, 1))
            try await stores.sendOne()
            #expect(try await stores.tell(Self.content(1, 2))?.outcome == .quiet)
            stores.clock.advance(by: 19)
            #expect(try await stores.claim().isEmpty)
            stores.clock.advance(by: 1)
            #expect(try await stores.sendOne().text.contains(#""clock": "2""#))
        }
    }

    @Test func `a composed message between two states does not make the goal ring again`() async throws {
        try await Self.withContent { stores in
            try await stores.tell(Self.content(1), sequence: 1)
            stores.clock.advance(by: 1)
            try await stores.accept(.update(Self.content(0)))
            #expect(try await stores.tell(Self.content(1), sequence: 1)?.outcome == .update)
            // What somebody sent early is the last state once the feed has it, too.
            try await stores.accept(.update(Self.content(2)))
            #expect(try await stores.tell(Self.content(2), sequence: 2) == nil)
            #expect(try await stores.tell(Self.content(2, 1), sequence: 3)?.outcome == .quiet)
            #expect(try await stores.tell(Self.content(3), sequence: 4)?.outcome == .rings)
        }
    }

    @Test(arguments: [
        Verdict.expired(reason: "no answer"), .rejected(APNsRefusal(status: 400, reason: .badChannelId)),
    ])
    func `a state that Apple never took is sent when it comes again, and only a new goal rings`(verdict: Verdict)
        async throws
    {
        try await Self.withContent { stores in
            try await stores.tell(Self.content(0))
            try await stores.sendOne()
            for home in [1, 2] {
                #expect(try await stores.tell(Self.content(home))?.outcome == .rings)
                try await stores.settle(try #require(try await stores.claim().first), verdict)
            }
            #expect(try await stores.tell(Self.content(2))?.outcome == .update)
            #expect(try await stores.tell(Self.content(2)) == nil)
        }
    }

    @Test(arguments: [false, true])
    func `a goal that is taken back before Apple took it does not ring`(isUnderWay: Bool) async throws {
        try await Self.withContent { stores in
            try await stores.tell(Self.content(0))
            try await stores.sendOne()
            let goal = try #require(try await stores.tell(Self.content(1)))
            let failed = try await isUnderWay ? stores.claim().first : nil
            // The phones' content is corrected by hand, so the state itself sends nothing.
            if isUnderWay { try await stores.accept(.update(Self.content(0))) }
            let expected: Contract.StateOutcome? = isUnderWay ? nil : .update
            #expect(try await stores.tell(Self.content(0))?.outcome == expected)
            if let failed { try await stores.settle(failed, .retry(at: stores.now, reason: "ServiceUnavailable")) }
            #expect(try await stores.state(of: goal) == .superseded)
            #expect(try await stores.sendOne().text.contains("alert") == false)
            #expect(try await stores.claim().isEmpty)
        }
    }

    @Test func `200 concurrent repetitions of a goal ring once`() async throws {
        try await Self.withContent { stores in
            try await stores.tell(Self.content(0), sequence: 1)
            // Two replicas have an outbox each.
            let outboxes = [stores.outbox, Outbox(Database(stores.pool))]
            let told = try await concurrently(200) { number in
                try await stores.tell(Self.content(1), sequence: 2, by: outboxes[number % 2])
            }.compactMap(\.self)
            #expect(told.count == 1 && told[0].outcome == .rings)
            #expect(try await stores.rows("broadcasts where alert is not null") == 1)
        }
    }

    @Test func `a sequence rises even without changes, but not after a preview or a refusal`() async throws {
        try await Self.withContent { stores in
            try await stores.tell(Self.content(0), sequence: 5)
            #expect(try await stores.tell(Self.content(0), sequence: 7) == nil)
            try await refuses(.contentMismatch) { try await stores.tell(#"{"home": "1"}"#, sequence: 8) }
            let report = stores.state(Self.content(1), sequence: 8)
            let preview = try await stores.outbox.rehearse(Intake(reporting: report, at: stores.now))
            #expect(preview?.accepted.outcome == .rings && preview?.accepted.rule == 0)
            #expect(preview?.preview.audiences.first?.payload.description.contains(#""alert""#) == true)
            #expect(try await stores.tell(Self.content(1), sequence: 8)?.outcome == .rings)
            #expect(try await stores.tell(Self.content(2), sequence: 1, epoch: 2)?.outcome == .rings)
            #expect(try await stores.tell(Self.content(3), sequence: 2)?.outcome == .rings)
            // A composed message is checked, too.
            try await refuses(.contentMismatch) { try await stores.accept(.update(#"{"home": "1"}"#)) }
            try await stores.declareContent(Self.declaration.replacing("refuse", with: "warn"))
            let warned = try await stores.accept(.update(#"{"home": "1"}"#))
            #expect(warned.warnings.contains { $0.hasPrefix("/contentState/home: ") })
        }
    }

    @Test func `without a type each difference is sent, until the last state`() async throws {
        try await withEvent { stores in
            try await stores.tell(Self.content(0), sequence: 1)
            let told = try #require(try await stores.tell(Self.content(0, 1), sequence: 2))
            #expect(told.outcome == .update && told.deliveries.map(\.priority) == [10])
            #expect(told.warnings.count == 1 && told.warnings[0].hasPrefix("com.example.Goal has no content type"))
            #expect(try await stores.tell(Self.content(2), sequence: 3, isFinal: true)?.event == .end)
            #expect(try await stores.tell(Self.content(2), sequence: 3, isFinal: true) == nil)
            try await refuses(.eventEnded) { try await stores.tell(Self.content(3), sequence: 4) }
        }
    }

    @Test func `a second content type leaves the first on, and a used one cannot be deleted`() async throws {
        try await Self.withContent { stores in
            #expect(try await stores.tell(Self.content(0))?.warnings.isEmpty == true)
            stores.clock.advance(by: 1)
            try await stores.declareContent(#"{"versions": [{"name": "1", "schema": {}}]}"#, "AdvertAttributes")
            #expect(try await stores.tell(Self.content(1))?.outcome == .rings)
            try await refuses(.contentMismatch) { try await stores.tell(#"{"home": "1"}"#) }
            let mismatches = try await stores.declareContent(
                Self.declaration.replacing(#""integer""#, with: #""integer", "minimum": 5"#))
            #expect(mismatches.map(\.eventKey) == ["match-1"])
            var draft = try Contract.EventDraft.sample()
            draft.content = "AdvertAttributes"
            #expect(try await stores.put(draft).warnings == [])
            #expect(try await stores.tell(#"{"home": "2"}"#)?.outcome == .update)
            let contents = ContentTypeStore(database: Database(stores.pool))
            func delete(_ name: String) async throws {
                try await contents.delete(name, of: .sample(), by: .server, if: .none, now: stores.now)
            }
            let used = await #expect(throws: Problem.self) { try await delete("AdvertAttributes") }
            #expect(used?.kind == .contentInUse && used?.detail.contains("live event match-1 uses") == true)
            try await delete("MatchAttributes")
            try await stores.cancel()
            try await delete("AdvertAttributes")
        }
    }
}

extension Intake {
    fileprivate init(reporting report: Contract.StateDraft, at time: Date) throws {
        self.init(.event(try .sample()), request: .update(), at: time)
        self.report = report
    }
}

extension StoreWorld {
    func state(
        _ content: String, sequence: Int? = nil, epoch: Int? = nil, isFinal: Bool = false
    ) -> Contract.StateDraft {
        Contract.StateDraft(
            contentState: RawJSON(unchecked: content.utf8), sequence: sequence, sequenceEpoch: epoch, final: isFinal)
    }

    /// Sends a state of an event.
    @discardableResult
    func tell(
        _ content: String, sequence: Int? = nil, epoch: Int? = nil, isFinal: Bool = false,
        by outbox: Outbox? = nil
    ) async throws -> Contract.Broadcast? {
        let report = state(content, sequence: sequence, epoch: epoch, isFinal: isFinal)
        return try await (outbox ?? self.outbox).putState(Intake(reporting: report, at: now))
    }

    /// Declares a content type of the sample app.
    @discardableResult
    func declareContent(
        _ declaration: String, _ name: String = "MatchAttributes"
    ) async throws -> [Contract.ContentMismatch] {
        let type = try ContentType(.sample(), name, parsing: Array(declaration.utf8))
        let store = ContentTypeStore(database: Database(pool))
        return try await store.put(type, by: .server, if: .none, now: now).type.value.mismatches ?? []
    }
}

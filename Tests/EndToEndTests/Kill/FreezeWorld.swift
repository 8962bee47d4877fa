internal import APNsSimulator
internal import APNsWire
internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization
internal import Testing

/// A server on a PostgreSQL that can be frozen, with work for every loop in each round.
struct FreezeWorld: Sendable {
    /// What is done to PostgreSQL.
    enum Fault: String, CaseIterable, Sendable {
        case blink, freeze, longFreeze, freezeAndKill, kill, cutConnections

        static func any(_ random: inout SplitMix) -> Fault {
            // Most faults are freezes that last longer than a request's timeout and a lease. Few last longer than the
            // query timeout of a loop, 30 s.
            let weights: [Fault] = [
                .blink, .blink, .freeze, .freeze, .freeze, .freeze, .freeze, .freezeAndKill, .kill, .kill,
                .cutConnections, .longFreeze,
            ]
            return weights[random.next(below: weights.count)]
        }
    }

    let stage: Stage
    let cluster: PostgresCluster
    let receiver: Receiver
    let app: HTTPCaller
    /// Phones that show the derby, by its channel and by a token.
    let new: Fan
    let old: Fan
    private let watch = Watch()
    /// Connections for queries that do not go through the server.
    private let pool: PostgresPool

    /// The server promises an answer within five seconds. If all other tests run at the same time, the process of this
    /// test may be some seconds late.
    static let callLimit = Duration.seconds(Drill.number("GRANDSTAND_FREEZES") == nil ? 10 : 5)
    static let loopLimit = Duration.seconds(10)

    /// Runs `body` in a world of its own, and ends all of it afterwards.
    ///
    /// - Parameter tcpPort: how the server reaches PostgreSQL; `nil`: over its socket.
    static func with(tcpPort: Int?, _ body: (FreezeWorld) async throws -> Void) async throws {
        let settings = [
            "GRANDSTAND_APNS_REQUEST_TIMEOUT": "1", "GRANDSTAND_RECONCILE_INTERVAL": "0",
            "GRANDSTAND_WEBHOOK_HTTP": "true", "GRANDSTAND_WEBHOOK_NETWORKS": "127.0.0.0/8",
        ]
        try await Stage.onCluster(settings: settings, tcpPort: tcpPort) { cluster, environment, simulator in
            try await Receiver.with { receiver in
                try await Stage.serve(environment, simulator: simulator) { stage in
                    try await Stage.onDatabase(of: environment) { pool in
                        try await body(try await FreezeWorld(stage, cluster, receiver, pool))
                    }
                }
            }
        }
    }

    private init(
        _ stage: Stage, _ cluster: PostgresCluster, _ receiver: Receiver, _ pool: PostgresPool
    ) async throws {
        self.stage = stage
        self.cluster = cluster
        self.receiver = receiver
        self.pool = pool
        (app, new, old) = try await stage.startOnNewAndOld()
        try await stage.liveEvent("later")
        let hook = try await stage.api(
            "POST", "/v1/webhooks", #"{"url": "\#(receiver.url)/hooks", "topics": ["broadcast.settled"]}"#)
        try #require(hook.status == 201, "\(hook.text)")
        try await FreezeStep.install(on: pool)
    }

    // MARK: A round

    /// When PostgreSQL was back.
    private final class Return: Sendable {
        let moment = Mutex<ContinuousClock.Instant?>(nil)
    }

    /// Records that a loop has done its work.
    private typealias Note = @Sendable (_ loop: String) -> Void

    /// - Parameter moment: from when the loop's time counts; `nil`: it does not count yet.
    private func note(_ title: String, since moment: @escaping @Sendable () -> ContinuousClock.Instant?) -> Note {
        { loop in
            guard let moment = moment() else { return }
            watch.note(loop, after: moment.duration(to: .now), title)
        }
    }

    /// Interrupts PostgreSQL while every loop is working, and ends the interruption. Then waits until every loop has
    /// finished the interrupted work, and the new work that it gets afterwards.
    func round(_ number: Int, _ fault: Fault, at step: FreezeStep?, for length: Duration) async throws {
        let title = "round \(number): \(fault) at \(step.map { "\($0)" } ?? "any moment") for \(length)"
        let kicks = [try await prepare(2 * number), try await prepare(2 * number + 1)]
        let back = Return()
        let calling = Task { await keepCalling(number) }
        defer { calling.cancel() }
        let works: [@Sendable (Int, Note) async throws -> Void] = [
            { try await makeChannels($0, $1) }, { try await broadcast($0, $1) },
            { try await schedule($0, $1) }, { try await start($0, kicks[$0 - 2 * number], $1) },
        ]
        let afterReturn = note(title) { back.moment.withLock { $0 } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for work in works {
                group.addTask {
                    try await work(2 * number, afterReturn)
                    try await until("PostgreSQL is back", within: .seconds(90)) { back.moment.withLock { $0 != nil } }
                    // A lost creation alone takes four seconds, so the time of the new work is measured separately.
                    let given = ContinuousClock.now
                    try await work(2 * number + 1, note(title) { given })
                }
            }
            try await pool.withConnection { holder in
                try await step?.close(on: holder)
                try await reach(step, on: holder)
                try await perform(fault, for: length)
                back.moment.withLock { $0 = .now }
                try? await step?.open(on: holder)
            }
            // The server may report the gauges that it read before the fault for 15 seconds.
            try await until("the numbers are told", within: .seconds(90)) {
                try await MetricsTests.scrape(stage.api).contains("\ngrandstand_database_bytes ")
            }
            afterReturn("gauges")
            try await group.waitForAll()
        }
        calling.cancel()
        await calling.value
    }

    private func reach(_ step: FreezeStep?, on holder: PostgresConnection) async throws {
        guard let step else { return try await Task.sleep(for: .milliseconds(.random(in: 0...300))) }
        let isReached: Bool? = try? await until("\(step) is reached", within: .seconds(2)) {
            try await step.isReached(on: holder) ? true : nil
        }
        if isReached ?? false { watch.reached(step) }
    }

    private func perform(_ fault: Fault, for length: Duration) async throws {
        switch fault {
        case .blink, .freeze, .longFreeze:
            try cluster.freeze(true)
            try await Task.sleep(for: length)
            try cluster.freeze(false)
        case .freezeAndKill:
            try cluster.freeze(true)
            try await Task.sleep(for: length)
            await cluster.kill()
            _ = try await cluster.start()
        case .kill:
            await cluster.kill()
            _ = try await cluster.start()
        case .cutConnections:
            _ = try? await pool.query(Stadium.cutting)
        }
    }

    /// Registers a phone, and declares an event that will be started on it.
    private func prepare(_ number: Int) async throws -> Fan {
        var fan = try Fan("kick-\(number)", "18.4", stage.simulator)
        fan.topics = ["team:kick-\(number)"]
        #expect(try await fan.register(app).status == 201)
        try await stage.putStartingEvent("kick-\(number)", Stage.startingEvent(topics: fan.topics))
        return fan
    }

    // MARK: Work for each loop

    /// Work for the provisioner, the reconciler and the lookups in memory. The reconciler has work because APNs' answer
    /// to one creation is lost.
    private func makeChannels(_ number: Int, _ note: (String) -> Void) async throws {
        try stage.simulator.addFaults(
            #"{"faults": [{"match": {"operation": "create"}, "action": "lose", "times": 1}]}"#)
        let keys = ["late-\(number)", "lost-\(number)"]
        for key in keys { try await insist("PUT", "/v1/events/\(key)", Self.event) }
        for key in keys {
            try await until("\(key) is looked up", within: .seconds(90)) {
                let answer = try await call("GET", "/v1/lookup/\(Stage.bundleID)/development/\(key)")
                return answer?.status == 200 && answer?.headers["warning"] == nil
            }
        }
        note("provisioner, reconciler, lookups")
    }

    /// Work for the dispatchers of channels and of crowds, and for webhooks.
    private func broadcast(_ number: Int, _ note: (String) -> Void) async throws {
        let answer = try await insist(
            "POST", "/v1/events/derby/broadcasts", #"{"event": "update", "contentState": {"home": \#(number)}}"#,
            name: "derby-\(number)")
        let id = try #require(answer.json["id"]?.string)
        try await stage.shows(new, #"{"home": \#(number)}"#)
        note("dispatcher")
        try await stage.shows(old, #"{"home": \#(number)}"#)
        note("crowds")
        try await until("the webhook is posted", within: .seconds(90)) {
            receiver.requests.contains { $0.text.contains(id) }
        }
        note("webhooks")
    }

    private func schedule(_ number: Int, _ note: (String) -> Void) async throws {
        let answer = try await insist(
            "POST", "/v1/events/later/broadcasts",
            """
            {"event": "update", "contentState": {"n": \(number)},
             "sendAt": "\(Date(timeIntervalSinceNow: 1).formatted(.iso8601))"}
            """, name: "later-\(number)")
        let id = try #require(answer.json["id"]?.string)
        try await until("the scheduled one is settled", within: .seconds(90)) {
            try await call("GET", "/v1/broadcasts/\(id)")?.json["state"]?.string == "done"
        }
        note("scheduler")
    }

    private func start(_ number: Int, _ fan: Fan, _ note: (String) -> Void) async throws {
        try await insist("POST", "/v1/events/kick-\(number)/starts")
        try await stage.shows(fan, #"{"home": 0}"#)
        note("starts")
    }

    private static let event =
        #"{"name": "Late", "audiences": [\#(Stage.audience(.development, .mostRecentMessageStored))]}"#

    /// Repeats a call until it is accepted, as organisers do.
    @discardableResult
    private func insist(
        _ method: String, _ path: String, _ body: String? = nil, name: String? = nil
    ) async throws -> HTTPCaller.Answer {
        try await until("\(method) \(path)", within: .seconds(90)) {
            guard let answer = try await call(method, path, body, name: name) else { return nil }
            if (200..<300).contains(answer.status) { return answer }
            try #require(answer.status == 503 || answer.slug == "idempotency-in-progress", "\(answer.text)")
            try await Task.sleep(for: .milliseconds(100))
            return nil
        }
    }

    /// Makes calls of every kind, each kind again and again, until cancelled.
    private func keepCalling(_ number: Int) async {
        let calls: [(String, String, String?)] = [
            ("PUT", "/v1/events/other", Self.event), ("GET", "/v1/events/derby", nil),
            ("GET", "/v1/lookup/\(Stage.bundleID)/development/nobody-\(number)", nil),
            ("GET", "/v1/lookup/\(Stage.bundleID)/development/later?include=contentState", nil),
            ("POST", "/v1/events/other/broadcasts", #"{"event": "update", "contentState": {}}"#),
            ("GET", "/v1/events/derby/broadcasts", nil), ("GET", "/v1/quotas", nil), ("GET", "/readyz", nil),
            (
                "POST", "/v1/events/other/broadcasts/preview", #"{"event": "update", "contentState": {}}"#
            ),
            ("GET", "/v1/events/derby/starts", nil), ("GET", "/v1/events", nil),
        ]
        await withTaskGroup(of: Void.self) { group in
            for (method, path, body) in calls {
                group.addTask {
                    while !Task.isCancelled {
                        _ = try? await call(method, path, body)
                        try? await Task.sleep(for: .milliseconds(500))
                    }
                }
            }
        }
    }

    /// Makes a call, and checks that it is answered in time, whatever the database does.
    private func call(
        _ method: String, _ path: String, _ body: String? = nil, name: String? = nil
    ) async throws -> HTTPCaller.Answer? {
        let began = ContinuousClock.now
        // The call runs in a task of its own, so that the end of the round does not cancel the call and its duration is
        // measured.
        let answer = await Task {
            try? await stage.api(method, path, body, headers: name.map { ["Idempotency-Key": $0] } ?? [:])
        }.value
        let took = began.duration(to: .now)
        watch.called(took)
        #expect(took < Self.callLimit, "\(method) \(path) took \(took): \(answer?.text ?? "no answer")")
        #expect(
            answer.map { $0.status < 500 || $0.status == 503 } ?? false,
            "\(method) \(path): \(answer?.text ?? "no answer")")
        return answer
    }

    // MARK: The end

    /// Checks that no broadcast was accepted twice.
    func expectNoDoubles() async throws {
        let doubles = try await pool.query(
            """
            select event_key, content_state::text from broadcasts where event_key in ('derby', 'later')
            group by 1, 2 having count(*) > 1
            """)
        #expect(doubles.isEmpty)
    }

    /// The durations and counts of all rounds, as text.
    var report: String { watch.report }
}

/// Notes how long things took.
private final class Watch: Sendable {
    private struct Notes {
        var loops: [String: Duration] = [:]
        var longestCall = Duration.zero
        var calls = 0
        var steps: Set<FreezeStep> = []
    }

    private let notes = Mutex(Notes())

    func note(_ loop: String, after time: Duration, _ fault: String) {
        notes.withLock { $0.loops[loop] = max(time, $0.loops[loop] ?? .zero) }
        #expect(time < FreezeWorld.loopLimit, "\(loop): \(time) after the return; \(fault)")
    }

    func called(_ time: Duration) {
        notes.withLock { notes in
            notes.calls += 1
            notes.longestCall = max(time, notes.longestCall)
        }
    }

    func reached(_ step: FreezeStep) { notes.withLock { _ = $0.steps.insert(step) } }

    var report: String {
        notes.withLock { notes in
            let loops = notes.loops.sorted { $0.key < $1.key }.map { "\($0.key) \(Self.seconds($0.value))" }
            return "\(notes.calls) calls, the longest \(Self.seconds(notes.longestCall)); "
                + "longest until a loop had gone on: \(loops.joined(separator: ", ")); "
                + "\(notes.steps.count) steps reached: "
                + notes.steps.map { "\($0)" }.sorted().joined(separator: ", ")
        }
    }

    private static func seconds(_ time: Duration) -> String {
        "\((time / .milliseconds(100)).rounded() / 10) s"
    }
}

internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandCommand

/// Processes that are killed, answers that are lost, many replicas: Apple's list and the ledger end up the same.
@Suite(.timeLimit(.minutes(20)))
struct CrashTests {
    @Test func `after lost answers and two kills each event has exactly one channel, and none is unused`()
        async throws
    {
        let settings = ["GRANDSTAND_APNS_REQUEST_TIMEOUT": "0.5", "GRANDSTAND_RECONCILE_INTERVAL": "0"]
        try await Stage.place(settings: settings, options: { $0.quirks.capitals = .accepted }) {
            environment, simulator in
            let secret = try await Stage.secret(environment)
            try simulator.addFaults(
                #"{"faults": [{"match": {"operation": "create", "every": 10}, "action": "lose"}]}"#)
            let events = (0..<Self.events).map { "event-\($0)" }
            let third = events.count / 3
            for round in 0..<2 {
                let server = try await ChildProcess.server(environment)
                let api = HTTPCaller(url: server.url, secret: secret)
                if round == 0 { try await Stage.putApp(api) }
                // The server is killed while some calls are on their way, some are processed but not answered, and some
                // are not yet made.
                let mark = simulator.journal().count { $0.request.isCreation } + third / 2
                async let declared: Void = Self.declare(events[(round * third)..<((round + 1) * third)], api)
                _ = try await simulator.awaitRequests(mark) { $0.request.isCreation }
                let hold = try simulator.hold(#""operation": "create""#)
                _ = try await simulator.awaitRequests(mark + 8) { $0.request.isCreation }
                try await declared
                await server.kill()
                simulator.removeFault(hold)
            }

            let server = try await ChildProcess.server(environment)
            let api = HTTPCaller(url: server.url, secret: secret)
            try await Self.declare(events[...], api)
            let channels = try await until("every event has its channel", within: .seconds(120)) {
                try await Self.channels(of: events, api)
            }
            #expect(channels.count == Set(channels).count)
            #expect(simulator.journal().count { $0.fate == .dropped } >= events.count / 10 - 2)
            // The server looks for the channels of unanswered calls until it knows the outcome of the last one.
            _ = try await until("no channel is left over", within: .seconds(60)) {
                let report = try await api(
                    "POST", "/v1/apps/\(Stage.bundleID)/development/reconciliations", "{}"
                ).json
                return report["matched"]?.int == events.count && report["unmanaged"]?.items.isEmpty == true
                    && report["missing"]?.items.isEmpty == true ? true : nil
            }
            #expect(
                simulator.channels(of: Stage.bundleID, in: .development).map(\.id).sorted() == channels.sorted())
        }
    }

    private static let events = 1_000

    /// Declares events with one audience each, some at a time. Declaring one again does no harm.
    private static func declare(_ keys: ArraySlice<String>, _ api: HTTPCaller) async throws {
        let audience = Stage.audience()
        try await inParallel(keys, atMost: 8) { key in
            let answer = try await api("PUT", "/v1/events/\(key)", #"{"name": "Match", "audiences": [\#(audience)]}"#)
            try #require([200, 201].contains(answer.status), "\(answer.text)")
        }
    }

    /// Apple's ID of each event's channel; `nil` unless all are active.
    private static func channels(of events: [String], _ api: HTTPCaller) async throws -> [String]? {
        var channels: [String] = []
        var cursor = ""
        repeat {
            let page = try await api("GET", "/v1/events?limit=200\(cursor)").json
            for event in page["items"]?.items ?? [] {
                let channel = event["audiences"]?[0]?["channel"]
                guard channel?["state"]?.string == "active", let id = channel?["channelId"]?.string else { return nil }
                channels.append(id)
            }
            cursor = page["nextCursor"]?.string.map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        return channels.count == events.count ? channels : nil
    }
}

/// A stop loses nothing that was answered 202.
@Suite(.timeLimit(.minutes(20)))
struct StopTests {
    @Test func `everything accepted while the server stops reaches APNs in the end`() async throws {
        // A request without an answer would be sent twice.
        try await Stage.place(settings: ["GRANDSTAND_APNS_REQUEST_TIMEOUT": "60"]) { environment, simulator in
            var accepted: Set<String> = []
            let events = (0..<4).map { "event-\($0)" }
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putApp()
                for key in events { try await stage.liveEvent(key) }
                accepted = await withTaskGroup(of: String?.self) { group in
                    for number in 0..<120 {
                        group.addTask {
                            // Alerts are never superseded: each must arrive.
                            let body =
                                #"{"event": "update", "contentState": {"n": \#(number)}, "alert": {"title": "Goal"}}"#
                            let path = "/v1/events/\(events[number % events.count])/broadcasts"
                            let answer = try? await stage.api("POST", path, body)
                            return answer?.status == 202 ? answer?.json["id"]?.string : nil
                        }
                    }
                    group.addTask {
                        _ = try? await simulator.awaitRequests(5) { $0.request.isBroadcast }
                        stage.running.cancel()
                        return nil
                    }
                    return await group.reduce(into: []) { ids, id in if let id { ids.insert(id) } }
                }
                try await stage.running.value
            }
            #expect(accepted.count >= 5)
            try await Stage.serve(environment, simulator: simulator) { stage in
                for id in accepted {
                    let broadcast = try await stage.settled(id)
                    #expect(broadcast.deliveryStates == ["accepted"], "\(id)")
                }
            }
            // Each message is sent once, because a message that was sent before the stop was also settled before it.
            let messages = simulator.journal().filter { $0.request.isBroadcast }.map {
                $0.request[header: "apns-request-id"]
            }
            #expect(messages.count == Set(messages).count)
            #expect(messages.count >= accepted.count)
        }
    }

    /// PostgreSQL may wait for a standby to confirm a commit, or hang, and then a statement cannot be cancelled. The
    /// lock of this test has the same effect.
    @Test func `the process ends within its time limit even if a statement is still running`() async throws {
        try await Stage.place(settings: ["GRANDSTAND_DRAIN_SECONDS": "0.5"]) { environment, _ in
            let secret = try await Stage.secret(environment)
            let server = try await ChildProcess.server(environment)
            try await Stage.onDatabase(of: environment) { pool in
                try await pool.transaction { connection in
                    // Keys can be read. The loop that writes when a key was last used waits for the lock.
                    try await connection.query("lock table api_keys in exclusive mode")
                    #expect(try await HTTPCaller(url: server.url, secret: secret)("GET", "/v1/apps").status == 200)
                    try await until("the use of the key waits for the lock") {
                        try await !pool.query(
                            """
                            select from pg_stat_activity where query like '%update api_keys%' and wait_event_type = 'Lock'
                                and datname = current_database()
                            """
                        ).isEmpty
                    }
                    let began = ContinuousClock.now
                    await server.terminate()
                    // The stop takes 4.5 s; the rest is a margin for a busy machine. A statement may take 30 s.
                    #expect(began.duration(to: .now) < .seconds(28))
                }
            }
        }
    }
}

/// `scripts/upgrade-drill`: a server of this build keeps running while a later release migrates the database, and is
/// then replaced without a gap.
@Suite(.timeLimit(.minutes(20)))
struct UpgradeDrillTests {
    private static let python = "/usr/bin/python3"

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: python)))
    func `a rolling upgrade past a migration that the build does not know loses nothing`() async throws {
        let script = URL(filePath: #filePath).appending(path: "../../../scripts/upgrade-drill").standardized
        let build = Bundle.main.bundleURL.appending(path: "grandstand")
        let output = try await Program.run(URL(filePath: Self.python), [script.path, "--rolling", build.path])
        #expect(output.exitCode == 0, "\(output.text)")
        #expect(output.text.contains("a migration that this build does not know"), "\(output.text)")
        #expect(output.text.contains("timestamps that went back: 0"), "\(output.text)")
    }
}

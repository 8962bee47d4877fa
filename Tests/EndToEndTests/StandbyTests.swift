internal import APNsSimulator
internal import EmbeddedPostgres
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// A primary and a synchronous standby: the standby goes on with all that the primary had.
@Suite(.timeLimit(.minutes(20)))
struct StandbyTests {
    @Test func `when the primary dies no accepted message is lost, and sending resumes within ten seconds`()
        async throws
    {
        let folder = try TemporaryFolder()
        try await PostgresPair.with(in: folder.path, logger: Stage.logger) { pair in
            try await Stage.place(settings: ["DATABASE_URL": pair.url]) { environment, simulator in
                try await Stage.serve(environment, simulator: simulator) { stage in
                    try await stage.putLiveEvent()
                    let before = try await Self.accepted(1...20, by: stage)

                    await pair.primary.kill()
                    let died = ContinuousClock.now
                    async let after = Self.accepted(21...40, by: stage)
                    try await pair.standby.promote()
                    _ = try await simulator.awaitRequests(1) { $0.request.isBroadcast && Self.state($0) > 20 }
                    let gap = ContinuousClock.now - died
                    #expect(gap < .seconds(10), "\(gap)")

                    for id in try await before + after {
                        let states = try await stage.settled(id).deliveryStates
                        #expect(["accepted", "superseded"].contains(states.first), "\(states)")
                    }
                    let sent = simulator.journal().filter { $0.request.isBroadcast && $0.status == 200 }
                    #expect(sent.last.map(Self.state) == 40)
                    let timestamps = sent.compactMap(\.request.timestamp)
                    #expect(timestamps == timestamps.sorted())
                    let ready = try await until("readiness is green") {
                        let answer = try await HTTPCaller(url: stage.url, secret: nil)("GET", "/readyz")
                        return answer.status == 200 ? answer : nil
                    }
                    #expect(ready.json["database"]?.string == "ok")
                }
            }
        }
    }

    @Test func `a commit that no standby confirmed is reported as unconfirmed`() async throws {
        let folder = try TemporaryFolder()
        try await PostgresPair.with(in: folder.path, logger: Stage.logger) { pair in
            var configuration = PostgresConfiguration(connectionString: pair.primaryURL)
            let patient = PostgresPool(configuration: configuration, logger: Stage.logger)
            configuration.queryTimeout = .seconds(3)
            let pool = PostgresPool(configuration: configuration, logger: Stage.logger)
            try await patient.query("create table t (n integer)")
            let session = try await DatabaseSession.connect(.url(pair.primaryURL), logger: Stage.logger)
            _ = try await session.migrate()
            try pair.standby.freeze(true)
            await #expect {
                try await pool.query("insert into t values (1)")
            } throws: { ($0 as? PostgresError)?.isUnreplicated == true }
            #expect(await session.probe()?.trouble == .standbyAway)
            await session.close()
            await #expect {
                try await pool.transaction { _ = try await $0.query("insert into t values (2)") }
            } throws: { ($0 as? PostgresError)?.kind == .timedOut }
            try pair.standby.freeze(false)
            try await patient.query("insert into t values (3)")
            await pool.close()
            await patient.close()
        }
    }

    private static func state(_ entry: JournalEntry) -> Int {
        entry.request.json["aps"]?["content-state"]?["n"]?.int ?? 0
    }

    /// Sends these states one after the other. Like an organiser, it repeats each one until it is accepted. Returns the
    /// IDs of the broadcasts.
    private static func accepted(_ states: ClosedRange<Int>, by stage: Stage) async throws -> [String] {
        var ids: [String] = []
        for n in states {
            ids.append(
                try await until("state \(n) is accepted") {
                    let answer = try? await stage.api(
                        "POST", "/v1/events/derby/broadcasts", #"{"event": "update", "contentState": {"n": \#(n)}}"#,
                        headers: ["Idempotency-Key": "state-\(n)"])
                    guard let answer else { return nil }
                    if answer.status == 202 { return answer.json["id"]?.string }
                    try #require(answer.status >= 409, "\(answer.text)")
                    return nil
                })
        }
        return ids
    }
}

/// A connection string with several hosts: what one of them committed is there when another takes over.
@Suite(.timeLimit(.minutes(20)))
struct FailoverTests {
    @Test func `when the database moves to another host no accepted message is lost, and the newest is last`()
        async throws
    {
        let folder = try TemporaryFolder()
        let (one, two) = (folder.path + "/one", folder.path + "/two")
        let first = PostgresCluster(directory: one, logger: Stage.logger, durable: false)
        let second = PostgresCluster(directory: two, logger: Stage.logger, durable: false)
        // The first cluster has the tables.
        let hosts = PostgresPair.url(try await first.startMigrated(), try await second.start())
        // The second host takes over with the data directory of the first, so the second host's own data directory is
        // removed.
        await second.stop()
        try FileManager.default.removeItem(atPath: two)
        let stop = {
            await first.stop()
            await second.stop()
        }
        try await ending(with: stop) {
            let settings = ["DATABASE_URL": hosts, "GRANDSTAND_APNS_REQUEST_TIMEOUT": "60"]
            try await Stage.place(settings: settings) { environment, simulator in
                try await Stage.serve(environment, simulator: simulator) { stage in
                    try await stage.putLiveEvent()
                    let hold = try simulator.hold(#""operation": "broadcast""#)
                    let sending = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
                    _ = try await simulator.awaitRequests(1) { $0.request.isBroadcast }
                    let waiting = try await stage.broadcast(
                        #"{"event": "update", "contentState": {"n": 2}, "alert": {"title": "Goal"}}"#)

                    await first.kill()
                    try FileManager.default.moveItem(atPath: one, toPath: two)
                    _ = try await second.start()
                    simulator.removeFault(hold)

                    let newest = try await until("broadcasts are accepted again") {
                        let answer = try await stage.api(
                            "POST", "/v1/events/derby/broadcasts", #"{"event": "update", "contentState": {"n": 3}}"#)
                        return answer.status == 202 ? answer.json["id"]?.string : nil
                    }
                    for id in [sending, waiting, newest] {
                        #expect(try await stage.settled(id).deliveryStates == ["accepted"])
                    }
                    let sent = simulator.journal().filter { $0.request.isBroadcast && $0.status == 200 }
                    let states = sent.compactMap { $0.request.json["aps"]?["content-state"]?["n"]?.int }
                    #expect(states == states.sorted())
                    // The alert of the second message is sent in any case. The state of the second message is sent with
                    // the alert, unless the third message was accepted before: then the alert is sent with the third
                    // state.
                    #expect(Set(states).isSuperset(of: [1, 3]))
                    #expect(sent.contains { $0.request.json["aps"]?["alert"] != nil })
                    let timestamps = sent.compactMap(\.request.timestamp)
                    #expect(timestamps == timestamps.sorted())
                }
            }
        }
    }
}

internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import EmbeddedPostgres

/// A backup of an hour ago replaces the database. What Apple and the phones have seen since then is not in the backup.
@Suite(.timeLimit(.minutes(20)))
struct RestoreTests {
    /// The runbook of docs/runbook.md, step by step.
    @Test func `after a restore live events keep their channels, nothing is deleted and no timestamp goes back`()
        async throws
    {
        let settings = ["GRANDSTAND_RECONCILE_INTERVAL": "0"]
        try await Stage.place(settings: settings) { environment, simulator in
            let backup = try Backup(environment)
            let before = try await Self.play(environment, simulator, backup)
            let foreign = try await AppleConsole.with(simulator) { console in
                try await console.delete(before.over)
                return try await console.create()
            }
            simulator.clearJournal()
            try await backup.restored { try await Self.drill(before, foreign, $0, simulator) }
            #expect(!simulator.journal().contains { $0.request.method == "DELETE" })
        }
    }

    private static func drill(
        _ before: Lost, _ foreign: String, _ environment: [String: String], _ simulator: Simulator
    ) async throws {
        let looking = environment.merging(["GRANDSTAND_ROLES": "api"]) { $1 }
        try await Stage.serve(looking, simulator: simulator) { try await look($0, before, foreign) }
        try await Stage.serve(environment, simulator: simulator) { try await resume($0, before, foreign) }
    }

    /// Reads the differences, and imports the channels whose events are known. The server has only the role `api`.
    private static func look(_ stage: Stage, _ before: Lost, _ foreign: String) async throws {
        let report = try await stage.reconcile("{}")
        #expect(report["missing"]?.items.map { $0["channelId"]?.string } == [before.over])
        let unmanaged = Set(report["unmanaged"]?.items.compactMap { $0["channelId"]?.string } ?? [])
        #expect(unmanaged == [before.later, before.new, foreign])
        try await stage.putEvent("new")
        try await take(stage, before.later, for: "later")
        try await take(stage, before.new, for: "new")
        #expect(stage.atApple == [before.kept, before.later, before.new, foreign])
    }

    private static func take(_ stage: Stage, _ channel: String, for key: String) async throws {
        let answer = try await stage.api(
            "POST", "/v1/apps/\(Stage.bundleID)/development/channels/import",
            #"{"channelId": "\#(channel)", "eventKey": "\#(key)"}"#)
        #expect(answer.status == 201, "\(answer.text)")
    }

    private static func resume(_ stage: Stage, _ before: Lost, _ foreign: String) async throws {
        let report = try await stage.reconcile(#"{"apply": true}"#)
        #expect(report["actions"]?.items.map { $0["action"]?.string } == ["mark-missing"])
        #expect(try await stage.activeChannels(of: "kept") == [before.kept])
        #expect(try await stage.activeChannels(of: "new") == [before.new])
        #expect(try await stage.activeChannels(of: "later") == [before.later])
        // The backup does not know that this event ended, so it has a channel again until its end is sent once more.
        let again: String = try await until("the event has another channel") {
            let channel = try await stage.activeChannels(of: "over").first
            return channel == before.over ? nil : channel
        }
        #expect(stage.atApple == [before.kept, before.later, before.new, foreign, again])
        #expect(try await stage.quota()["unmanaged"]?.int == 1)

        // Three updates were sent so fast that their timestamps are ahead of the clock. After an outage of an hour, the
        // clock would have passed these timestamps.
        try await until("the clock has passed what phones have") {
            Int(Date().timeIntervalSince1970) > before.timestamp
        }
        let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 4}}"#, to: "kept")
        #expect(try await stage.settled(id).deliveryStates == ["accepted"])
        let sent = stage.simulator.journal().filter { $0.request.isBroadcast && $0.status == 200 }
        let timestamps = sent.compactMap(\.request.timestamp)
        #expect(timestamps.count == 1 && timestamps.allSatisfy { $0 > before.timestamp })
        #expect(sent.compactMap { $0.request.json["aps"]?["content-state"]?["n"]?.int } == [4])
    }

    /// - Parameter others: how many channels another system creates after the dump. The dump itself has one creation
    ///   that is not yet answered.
    @Test(arguments: [0, 1])
    func `an unanswered creation gets its channel after a restore, unless it may be another system's`(others: Int)
        async throws
    {
        let settings = ["GRANDSTAND_RECONCILE_INTERVAL": "0", "GRANDSTAND_APNS_REQUEST_TIMEOUT": "1"]
        try await Stage.place(settings: settings) { environment, simulator in
            let backup = try Backup(environment)
            var made = ""
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putApp()
                let hold = try simulator.hold(#""operation": "create""#)
                try await stage.putEvent("derby")
                _ = try await simulator.awaitRequests(1) { $0.request.isCreation }
                try await backup.take()
                simulator.removeFault(hold)
                made = try #require(try await stage.activeChannels().first)
            }
            try await AppleConsole.with(simulator) { console in
                for _ in 0..<others { try await console.create() }
            }
            let before = Set(simulator.channels(of: Stage.bundleID, in: .development).map(\.id))
            try await backup.restored { environment in
                try await Stage.serve(environment, simulator: simulator) { stage in
                    let channel = try #require(try await stage.activeChannels().first)
                    #expect((channel == made) == (others == 0))
                    #expect(stage.atApple == before.union([channel]))
                    let alarm = try await stage.quota()["alarm"]?.string
                    #expect(alarm == (others == 0 ? nil : "ambiguous-creation"))
                }
            }
        }
    }

    /// Channels as they are at Apple when the database is lost, and the newest timestamp that phones have.
    private struct Lost {
        var kept = ""
        /// The channel of an event that had no channel in the backup.
        var later = ""
        /// The channel of an event that is not in the backup.
        var new = ""
        /// The channel of an event that ended after the backup.
        var over = ""
        var timestamp = 0
    }

    private static func play(
        _ environment: [String: String], _ simulator: Simulator, _ backup: Backup
    ) async throws -> Lost {
        var lost = Lost()
        try await Stage.serve(environment, simulator: simulator) { stage in
            func send(_ n: Int, to key: String = "kept", event: String = "update") async throws {
                let id = try await stage.broadcast(
                    #"{"event": "\#(event)", "contentState": {"n": \#(n)}}"#, to: key)
                #expect(try await stage.settled(id).deliveryStates == ["accepted"])
            }
            lost.kept = try await stage.putLiveEvent("kept")
            lost.over = try await stage.liveEvent("over")
            let declared = try await stage.api(
                "PUT", "/v1/events/later",
                #"{"name": "Later", "channelsOpenAt": "2099-01-01T00:00:00Z", "audiences": [\#(Stage.audience())]}"#)
            #expect(declared.status == 201)
            try await send(1)
            try await backup.take()
            for n in 2...3 { try await send(n) }
            try await send(9, to: "over", event: "end")
            lost.later = try await stage.liveEvent("later")
            lost.new = try await stage.liveEvent("new")
        }
        lost.timestamp =
            simulator.journal().filter { $0.request.isBroadcast }.compactMap(\.request.timestamp).max() ?? 0
        return lost
    }
}

/// `pg_dump` and `pg_restore`, as the runbook has them.
private struct Backup {
    private let environment: [String: String]
    private let url: String
    private let folder: TemporaryFolder

    init(_ environment: [String: String]) throws {
        self.environment = environment
        url = try #require(environment["DATABASE_URL"])
        folder = try TemporaryFolder()
    }

    func take() async throws { try await run("pg_dump", ["--format=custom", "--file=\(file)", url]) }

    /// Restores into a new database beside the old one, and gives `body` the settings of a server on the new database.
    func restored(_ body: ([String: String]) async throws -> Void) async throws {
        let name = "restored_\(UUID().uuidString.prefix(8).lowercased())"
        let restored = "\(url) dbname=\(name)"
        try await change("create database \(name)")
        try await ending(with: { try await change("drop database \(name) with (force)") }) {
            try await run("pg_restore", ["--exit-on-error", "--no-owner", "--dbname=\(restored)", file])
            try await body(environment.merging(["DATABASE_URL": restored]) { $1 })
        }
    }

    private func change(_ sql: String) async throws {
        try await PostgresCluster.withPool(url) { pool in try await pool.withConnection { try await $0.script(sql) } }
    }

    private var file: String { folder.path + "/backup.dump" }

    private func run(_ program: String, _ arguments: [String]) async throws {
        let programs = try await Programs.find(nil, in: Programs.folders(), data: "")
        let output = try await Program.run(URL(filePath: "\(programs.folder)/\(program)"), arguments)
        try #require(output.exitCode == 0, "\(program): \(output.text)")
    }
}

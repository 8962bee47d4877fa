internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// One app's trouble does not affect another app.
@Suite(.timeLimit(.minutes(3)))
struct NeighbourTests {
    private static let other = "com.example.Other"

    /// Two apps with an event each, `derby` and `final`.
    private static func putApps(_ stage: Stage) async throws {
        try await stage.putLiveEvent()
        try await stage.putApp(other)
        try await stage.putEvent("final", [Stage.audience(.development, .noMessageStored, of: other)])
        try await stage.activeChannels(of: "final")
    }

    @Test func `an alert is settled and sent once while another app's lane is locked`() async throws {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await Self.putApps(stage)
                let pool = PostgresPool(
                    configuration: PostgresConfiguration(connectionString: environment["DATABASE_URL"] ?? ""),
                    logger: Stage.logger)
                let answers = stage.simulator.hold { $0.isBroadcast && $0.path.contains(Self.other) }
                let locked = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#, to: "final")
                _ = try await stage.sent(1)
                try await pool.transaction { connection in
                    try await connection.query("select from lanes where bundle_id = \(Self.other) for update")
                    answers.release()
                    // The verdict on the locked lane is tried again and again. At the same time, the verdicts on the
                    // other app's lane come.
                    for n in 0..<5 {
                        let goal = try await stage.broadcast(
                            #"{"event": "update", "contentState": {"n": \#(n)}, "alert": {"title": "Goal"}}"#)
                        let settled = try await stage.settled(goal)
                        #expect(settled["deliveries"]?.items.first?["attempts"]?.int == 1)
                    }
                    let state = try await stage.api("GET", "/v1/broadcasts/\(locked)").json
                    #expect(state["deliveries"]?.items.first?["state"]?.string == "sending")
                }
                let settled = try await stage.settled(locked)
                #expect(settled["deliveries"]?.items.first?["state"]?.string == "accepted")
                #expect(settled["deliveries"]?.items.first?["attempts"]?.int == 1)
                #expect(try await stage.sent(6).count == 6)
                await pool.close()
            }
        }
    }

    @Test func `receivers of one app that never answer do not delay another app's webhook`() async throws {
        try await Receiver.with(react: { _, _ in .silence }) { silent in
            try await Receiver.with { receiver in
                // A message that waited for the timeout of a silent receiver would come too late.
                let settings = WebhookTests.settings.merging(["GRANDSTAND_WEBHOOK_TIMEOUT": "60"]) { $1 }
                try await Stage.with(settings: settings) { stage in
                    try await Self.putApps(stage)
                    func create(_ receiver: Receiver, _ bundleID: String) async throws -> String {
                        let answer = try await stage.api(
                            "POST", "/v1/webhooks",
                            """
                            {"url": "\(receiver.url)", "topics": ["broadcast.settled"], "bundleId": "\(bundleID)"}
                            """)
                        try #require(answer.status == 201, "\(answer.text)")
                        return try #require(answer.json["id"]?.string)
                    }
                    for _ in 0..<10 {
                        let id = try await create(silent, Self.other)
                        for _ in 0..<4 { _ = try await stage.api("POST", "/v1/webhooks/\(id)/test") }
                    }
                    _ = try await create(receiver, Stage.bundleID)
                    #expect(await silent.wait(for: 10).count >= 10)
                    _ = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
                    try await until("the other app's webhook is told", within: .seconds(20)) {
                        receiver.requests.count == 1
                    }
                }
            }
        }
    }
}

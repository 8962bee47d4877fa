internal import APNsSimulator
internal import EmbeddedPostgres
internal import Foundation
internal import GrandstandTestKit
internal import Testing

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
            try await Stage.place(settings: ["DATABASE_URL": hosts]) { environment, simulator in
                try await Stage.serve(environment, simulator: simulator) { stage in
                    try await stage.putLiveEvent()
                    let hold = try simulator.hold(#""operation": "broadcast""#)
                    let sending = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
                    _ = try await simulator.requests(1) { $0.request.isBroadcast }
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

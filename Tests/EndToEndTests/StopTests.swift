internal import APNsSimulator
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// A stop loses nothing that was answered 202.
@Suite(.timeLimit(.minutes(20)))
struct StopTests {
    @Test func `everything accepted while the server stops reaches APNs in the end`() async throws {
        try await Stage.place { environment, simulator in
            var accepted: Set<String> = []
            let events = (0..<4).map { "event-\($0)" }
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putApp()
                for key in events { try await stage.putEvent(key) }
                for key in events { try await stage.activeChannels(of: key) }
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
                        _ = try? await stage.sent(5)
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
            let server = try await ServerProcess.start(environment)
            let pool = Stage.pool(environment)
            try await pool.transaction { connection in
                // Keys can be read. The stop cannot write when the key was last used.
                try await connection.query("lock table api_keys in exclusive mode")
                #expect(try await HTTPCaller(url: server.url, secret: secret)("GET", "/v1/apps").status == 200)
                let began = ContinuousClock.now
                await server.terminate()
                // The stop takes 4.5 s; the rest is a margin for a busy machine. A statement may take 30 s.
                #expect(began.duration(to: .now) < .seconds(20))
            }
            await pool.close()
        }
    }
}

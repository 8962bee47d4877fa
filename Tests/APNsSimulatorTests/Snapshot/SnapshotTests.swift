internal import APNsWire
internal import Foundation
internal import HTTP2
internal import Testing

@testable internal import APNsSimulator

/// State that is kept over restarts.
struct SnapshotTests {
    @Test func `channels, messages, deletions, owners and phones are the same after a restart`() throws {
        var stage = try PhoneStage(policy: 1)
        let token = try stage.addPhone("eve")
        try stage.follow("anna")
        try stage.send(1, at: 10, expiresIn: 600)
        stage.setOnline(false, "anna", at: 11)
        try stage.send(2, at: 12, expiresIn: 600)
        _ = try stage.bench.push(to: token, DevicePushTests.start(#","input-push-token":1"#))
        let gone = try stage.bench.create(policy: 0)
        _ = try stage.bench.send("DELETE", "/1/apps/\(Bench.bundleID)/channels", ["apns-channel-id": gone])
        _ = stage.bench.state.retire(token: token, .unregistered, now: Bench.now)

        let text = Snapshot.text(of: stage.bench.state)
        var restored = SimulatorState(keys: [try stage.bench.provider.registered()])
        try Snapshot.restore(text, into: &restored, at: "file")
        #expect(Snapshot.text(of: restored) == text)

        stage.bench.state = restored
        stage.setOnline(true, "anna", at: 14)
        #expect(stage.shown("anna", at: 14) == [#"{"n":2}"#])
        #expect(stage.shown("eve", at: 14) == [#"{"n":0}"#])
        #expect(try stage.bench.broadcast(on: gone).reason == .channelNotRegistered)
        #expect(try stage.bench.push(to: token, DevicePushTests.start("")).reason == .unregistered)
    }

    @Test(.timeLimit(.minutes(20)))
    func `a restart with a state file has the same channels, and a foreign file stays unchanged`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("kept/state.json")
        let id = try await RunningSimulator.with(in: folder.path, options: { $0.stateFile = file }) { running in
            let client = Client(connection: try await running.connect(), token: try running.token())
            return try #require(try await client.create(policy: 1)[header: "apns-channel-id"])
        }
        try await RunningSimulator.with(in: folder.path, options: { $0.stateFile = file }) { running in
            #expect(running.simulator.channels(of: Bench.bundleID, in: .development).map(\.id) == [id])
        }
        try folder.write("theirs", to: "kept/state.json")
        await #expect(throws: SimulatorError.self) {
            try await RunningSimulator.with(in: folder.path, options: { $0.stateFile = file }) { _ in }
        }
        #expect(try folder.text("kept/state.json") == "theirs")
    }
}

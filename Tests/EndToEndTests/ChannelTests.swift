internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// Channels that the server deletes or replaces by itself.
@Suite(.timeLimit(.minutes(20)))
struct ChannelTests {
    @Test func `an ended event's channel is deleted once it is kept long enough`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_RETIRE_AFTER": "0"]) { stage in
            try await stage.putLiveEvent()
            _ = try await stage.settled(try await stage.broadcast(#"{"event": "end"}"#))
            let deletion = try await stage.simulator.requests(1) { $0.request.isDeletion && $0.status == 204 }
            #expect(deletion.first?.request.path == "/1/apps/com.example.stadium/channels")
            #expect(stage.atApple().isEmpty)
        }
    }

    @Test func `the timer finds a lost channel by itself`() async throws {
        try await Stage.with(settings: ["GRANDSTAND_RECONCILE_INTERVAL": "0.2"]) { stage in
            try await stage.putLiveEvent("friendly")
            try await stage.putEvent("derby")
            let lost = try await stage.activeChannels(of: "derby")
            try await AppleConsole.with(stage.simulator) { try await $0.delete(lost[0]) }
            try await until("the event has another channel") { try await stage.activeChannels(of: "derby") != lost }
        }
    }
}

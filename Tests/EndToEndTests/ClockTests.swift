internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// Replicas whose machines' clocks are wrong. Leases and stored times follow the database's clock.
@Suite(.timeLimit(.minutes(20)))
struct ClockTests {
    /// A wall clock that a test sets.
    private final class Wall: Sendable {
        private let lead: Mutex<TimeInterval>

        init(_ lead: TimeInterval) { self.lead = Mutex(lead) }

        var now: Date { Date().addingTimeInterval(lead.withLock { $0 }) }

        func set(_ seconds: TimeInterval) { lead.withLock { $0 = seconds } }
    }

    /// Two replicas on one database. Their clocks are 20 s apart: each is 10 s off the database's clock, the most that
    /// a server accepts.
    private static func replicas(
        settings: [String: String] = [:], _ body: (_ behind: Stage, _ ahead: Stage) async throws -> Void
    ) async throws {
        try await Stage.place(settings: settings) { environment, simulator in
            try await Stage.serve(environment, wallClock: { Wall(-10).now }, simulator: simulator) { behind in
                try await Stage.serve(environment, wallClock: { Wall(10).now }, simulator: simulator) { ahead in
                    try await body(behind, ahead)
                }
            }
        }
    }

    private static let update = #"{"event": "update", "contentState": {"n": 1}}"#

    @Test func `while a replica sends on a lane, another whose clock is ahead does not send there`()
        async throws
    {
        // The request that is held does not become unanswered on a slow machine.
        let settings = ["GRANDSTAND_APNS_REQUEST_TIMEOUT": "300", "GRANDSTAND_APNS_CONNECTIONS": "1"]
        try await Self.replicas(settings: settings) { behind, ahead in
            try await behind.putApp()
            for key in ["derby", "final"] { try await behind.putEvent(key) }
            let channel = try #require(try await behind.activeChannels(of: "derby").first)
            try await behind.activeChannels(of: "final")
            // A connection carries one request at a time until APNs has accepted a token on it. Then the request that is
            // held would also hold the messages of the other lane that the same replica takes.
            try await until("both replicas have sent on their connections") {
                for stage in [ahead, behind] {
                    _ = try await stage.settled(try await stage.broadcast(Self.update, to: "final"))
                }
                let sent = behind.simulator.journal().filter(\.request.isBroadcast)
                return Set(sent.map(\.request.connection)).count == 2
            }
            let hold = try behind.simulator.hold(#""channelId": "\#(channel)""#)
            let held = try await behind.broadcast(Self.update)
            _ = try await behind.simulator.requests(1) { $0.request[header: "apns-channel-id"] == channel }
            // Every settled message makes a dispatcher look for everything that is due.
            for _ in 1...10 {
                _ = try await ahead.settled(try await ahead.broadcast(Self.update, to: "final"))
            }
            #expect(
                behind.simulator.journal().count { $0.request[header: "apns-channel-id"] == channel } == 1)
            behind.simulator.removeFault(hold)
            #expect(try await behind.settled(held).deliveryStates == ["accepted"])
        }
    }

    @Test func `a server whose clock is more than 10 s off does not start, and says what to do`() async throws {
        try await Stage.place { environment, _ in
            for seconds in [-11.0, 11, 3_600] {
                let error = await #expect(throws: StartError.self) {
                    _ = try await Server.build(
                        try Configuration(environment: environment), wallClock: { Wall(seconds).now },
                        logger: Stage.logger)
                }
                let text = "\(error?.description ?? "")"
                #expect(
                    text.contains(seconds < 0 ? "11.0 s behind the database's" : "s ahead of the database's"), "\(text)"
                )
                #expect(text.contains("NTP"))
                #expect(!text.contains("\n"))
            }
        }
    }

    @Test func `a running server with a wrong clock sends nothing until it is right, and loses nothing`() async throws {
        let wall = Wall(0)
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, wallClock: { wall.now }, simulator: simulator) { stage in
                try await stage.putLiveEvent()
                wall.set(30)
                _ = try await until("the metric says so") { try await Self.offset(stage) > 10 ? true : nil }
                let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
                #expect(try await stage.api("GET", "/v1/broadcasts/\(id)").json.deliveryStates == ["queued"])
                #expect(simulator.journal().count { $0.request.isBroadcast } == 0)
                wall.set(0)
                #expect(try await stage.settled(id).deliveryStates == ["accepted"])
                #expect(try await Self.offset(stage) < 1)
            }
        }
    }

    private static func offset(_ stage: Stage) async throws -> Double {
        let text = try await stage.api("GET", "/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix("grandstand_clock_offset_seconds ") }
        return try #require(line?.split(separator: " ").last.flatMap { Double($0) })
    }
}

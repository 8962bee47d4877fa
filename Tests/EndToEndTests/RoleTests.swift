internal import APNsSimulator
internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// API, sending and channels in processes of their own, on one database.
@Suite(.timeLimit(.minutes(20)))
struct RoleTests {
    @Test func `a broadcast that one process accepts is sent by another`() async throws {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment.merging(["GRANDSTAND_ROLES": "api"]) { $1 }, simulator: simulator) {
                stage in
                try await stage.putApp()
                try await stage.putEvent("derby")
                let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": 1}}"#)
                // Nobody is there yet to make a channel or to send.
                #expect(try await stage.api("GET", "/v1/broadcasts/\(id)").json.deliveryStates == ["waiting"])
                try await Self.run("reconcile", environment) {
                    try await stage.activeChannels(of: "derby")
                    #expect(simulator.journal().count { $0.request.isBroadcast } == 0)
                    try await Self.run("dispatch", environment) {
                        let settled = try await stage.settled(id)
                        #expect(settled.deliveryStates == ["accepted"])
                    }
                }
            }
        }
    }

    /// Runs a server that has only this role, for as long as `body` runs. The server listens on no port.
    private static func run(
        _ role: String, _ environment: [String: String], _ body: () async throws -> Void
    ) async throws {
        let settings = environment.merging(["GRANDSTAND_ROLES": role]) { $1 }
        let server = try await Server.build(try Configuration(environment: settings), logger: Stage.logger)
        let running = Task { try await server.run { _ in Issue.record("\(role) listens") } }
        func stop() async throws {
            running.cancel()
            try await running.value
        }
        try await ending(with: stop, body)
    }
}

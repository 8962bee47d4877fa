internal import Foundation
internal import GrandstandClient

/// Steps that several chapters of the demo share.
extension DemoStage {
    /// - Throws: `DemoFailure` for another status.
    func expect(_ answer: GrandstandClient.Answer, _ status: Int) throws {
        guard answer.status != status else { return }
        throw DemoFailure("the server answered \(answer.status), not \(status): \(ServerProblem(answer))")
    }

    /// Asks until there is an answer; 15 seconds are ample for work that takes milliseconds.
    func poll<Value>(_ what: String, _ ask: () async throws -> Value?) async throws -> Value {
        let deadline = ContinuousClock.now + .seconds(15)
        while ContinuousClock.now < deadline {
            if let value = try await ask() { return value }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw DemoFailure("\(what): not there after 15 seconds")
    }

    /// Sends a broadcast to an event; returns once nothing more will happen to it.
    func broadcast(_ body: Data, to key: String, called name: String) async throws -> BroadcastView {
        let accepted = try await accept(body, to: key)
        return try await settled(accepted, called: name)
    }

    /// Sends a broadcast to an event.
    func accept(_ body: Data, to key: String) async throws -> BroadcastView {
        try await client.call("POST", "/v1/events/\(GrandstandClient.encoded(key))/broadcasts", json: body)
    }

    /// Waits until each of its deliveries is accepted.
    ///
    /// - Throws: `DemoFailure` for one that is not.
    func settled(_ broadcast: BroadcastView, called name: String) async throws -> BroadcastView {
        let done: BroadcastView = try await poll("the broadcast \(name)") {
            let view: BroadcastView = try await client.call("GET", "/v1/broadcasts/\(broadcast.id)")
            return view.state == "done" ? view : nil
        }
        for delivery in done.deliveries where delivery.state != "accepted" {
            throw DemoFailure("\(name): \(delivery.state) in \(delivery.environment), \(delivery.reason ?? "")")
        }
        return done
    }
}

/// The parts of a broadcast that the demo reads.
struct BroadcastView: Decodable {
    struct Delivery: Decodable {
        let environment: String
        let state: String
        let apnsRequestId: String?
        let reason: String?
    }

    let id: String
    let state: String
    let deliveries: [Delivery]
}

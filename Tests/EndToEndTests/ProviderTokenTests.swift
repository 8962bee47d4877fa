internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

/// Apple counts how often a key's provider token changes.
@Suite(.timeLimit(.minutes(20)))
struct ProviderTokenTests {
    @Test func `three replicas, one of them restarted, and the doctor send one token`() async throws {
        try await Stage.place(options: { $0.capitals = .accepted }) { environment, simulator in
            let secret = try await Stage.secret(environment)
            var replicas: [ServerProcess] = []
            for _ in 0..<3 { replicas.append(try await ServerProcess.start(environment)) }
            try await Stage.putApp(HTTPCaller(url: replicas[0].url, secret: secret))
            for replica in replicas { try await Self.create(replica, secret) }
            await replicas[0].terminate()
            replicas[0] = try await ServerProcess.start(environment)
            try await Self.create(replicas[0], secret)
            let report = await Doctor(environment: environment, logger: Stage.logger).run(app: nil)
            #expect(report.checks.count { $0.name == "token" && $0.outcome == .ok } == 2, "\(report.text)")
            for replica in replicas { await replica.terminate() }

            // If a new slot began meanwhile, there is a token for each of both slots. The same claims have one token.
            let tokens = Set(simulator.journal().compactMap { $0.request[header: "authorization"] })
            let claims = Set(tokens.map { $0.split(separator: ".").dropLast() })
            #expect((1...2).contains(tokens.count) && tokens.count == claims.count, "\(tokens.count), \(claims.count)")
        }
    }

    /// Makes a replica ask Apple for a channel.
    private static func create(_ replica: ServerProcess, _ secret: String) async throws {
        let api = HTTPCaller(url: replica.url, secret: secret)
        let answer = try await api(
            "POST", "/v1/apps/\(Stage.bundleID)/development/channels", #"{"storagePolicy": "noMessageStored"}"#)
        try #require((200..<300).contains(answer.status), "\(answer.text)")
    }
}

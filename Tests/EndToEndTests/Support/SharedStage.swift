internal import Foundation
internal import GrandstandTestKit
internal import Testing

/// One server for all suites that have the trait `.sharedStage`. It starts with their first test, and stops after the
/// last of these suites.
actor SharedStage {
    fileprivate static let current = SharedStage()

    /// No reconciliation runs by itself, and receivers of webhooks may listen on loopback.
    private static let settings = WebhookTests.settings.merging([
        "GRANDSTAND_RECONCILE_INTERVAL": "0", "GRANDSTAND_RECONCILE_GRACE": "0",
    ]) { $1 }

    private var running:
        (stage: Task<Stage, any Error>, run: Task<Void, any Error>, stop: AsyncStream<Void>.Continuation)?
    private var suites = 0

    fileprivate func stage() async throws -> Stage {
        if let running { return try await running.stage.value }
        let (stages, started) = AsyncThrowingStream<Stage, any Error>.makeStream()
        let (stops, stop) = AsyncStream<Void>.makeStream()
        // Detached: the server does not belong to the test that happens to be the first.
        let run = Task.detached {
            do {
                try await Stage.with(settings: Self.settings) { stage in
                    started.yield(stage)
                    for await _ in stops {}
                }
                started.finish()
            } catch {
                started.finish(throwing: error)
                throw error
            }
        }
        let stage = Task.detached {
            for try await stage in stages { return stage }
            throw CancellationError()
        }
        running = (stage, run, stop)
        return try await stage.value
    }

    fileprivate func enter() { suites += 1 }

    fileprivate func leave() async throws {
        suites -= 1
        guard suites == 0, let running else { return }
        self.running = nil
        running.stop.finish()
        try await running.run.value
    }
}

/// The tests of the suite use `Stage.own`.
struct OnSharedStage: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await SharedStage.current.enter()
        try await ending(with: { try await SharedStage.current.leave() }, function)
    }
}

extension Trait where Self == OnSharedStage {
    static var sharedStage: Self { Self() }
}

extension Stage {
    /// The shared server, with an app and an event that no other test has.
    static func own() async throws -> Stage {
        var stage = try await SharedStage.current.stage()
        let name = UUID().uuidString.prefix(8).lowercased()
        stage.bundleID += "-" + name
        stage.event += "-" + name
        return stage
    }
}

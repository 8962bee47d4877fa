internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import GrandstandTestKit
internal import HTTP2
internal import Testing

/// The simulator over the wire.
@Suite(.timeLimit(.minutes(20)))
struct SimulatorTests {
    @Test func `a wait ends when its task is cancelled, and when the simulator stops`() async throws {
        try await RunningSimulator.withClient { running, _ in
            let cancelled = Task { try await running.simulator.requests(1) }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let waiting = Task { try await running.simulator.requests(1) }
            let looking = Task { try await running.simulator.lockScreen(of: "anna") { $0.count == 7 } }
            await running.simulator.stop()
            await #expect(throws: (any Error).self) { try await waiting.value }
            await #expect(throws: CancellationError.self) { try await looking.value }
        }
    }

    @Test func `run() announces its addresses, serves, and ends when it is cancelled`() async throws {
        let folder = try TemporaryFolder()
        let (announced, continuation) = AsyncStream.makeStream(of: SimulatorAddresses.self)
        let simulator = Simulator(
            options: SimulatorOptions(directory: folder.path), logger: RunningSimulator.logger,
            announce: { continuation.yield($0) })
        let task = Task { try await simulator.run() }
        let addresses = try #require(await announced.first { _ in true })
        let provider = try Provider(
            keyID: SimulatorIdentity.keyID, teamID: SimulatorIdentity.teamID, file: addresses.keyFile)
        let running = RunningSimulator(simulator: simulator, addresses: addresses, provider: provider)
        let client = try await running.client(.production)
        #expect(try await client.list().status == 200)
        task.cancel()
        try await task.value
        _ = await client.connection.closed()
        await #expect(throws: HTTP2ConnectError.self) { try await running.connect() }
    }
}

internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

/// Last uses of keys are written together, and none is lost while the database cannot be reached.
struct KeyUsesTests {
    private final class Ledger: Sendable {
        private struct State {
            var batches: [[UUID: Date]] = []
            var isDown = false
        }

        private let state = Mutex(State())

        var batches: [[UUID: Date]] { state.withLock { $0.batches } }

        func goDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

        func used(_ uses: [UUID: Date]) throws {
            let isDown = state.withLock { state in
                if !state.isDown { state.batches.append(uses) }
                return state.isDown
            }
            if isDown { throw Problem(.storeUnavailable, "gone") }
        }
    }

    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func `many uses are one batch with the last use of each key, and none is written twice`() async throws {
        let ledger = Ledger()
        let uses = KeyUses(logger: Logger(label: "test"), record: { try ledger.used($0) })
        let (one, other) = (UUID(), UUID())
        for second in 0..<100 { uses.used(one, at: start + Double(second)) }
        uses.used(other, at: start)
        try await uses.write()
        try await uses.write()
        #expect(ledger.batches == [[one: start + 99, other: start]])
    }

    @Test func `uses that could not be written are written with the next batch, unless there are newer ones`()
        async throws
    {
        let ledger = Ledger()
        let uses = KeyUses(logger: Logger(label: "test"), record: { try ledger.used($0) })
        let (one, other) = (UUID(), UUID())
        ledger.goDown(true)
        uses.used(one, at: start)
        uses.used(other, at: start)
        await #expect(throws: Problem.self) { try await uses.write() }
        uses.used(one, at: start + 5)
        ledger.goDown(false)
        try await uses.write()
        #expect(ledger.batches == [[one: start + 5, other: start]])
    }
}

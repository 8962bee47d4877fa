package import APNsWire
internal import FoundationEssentials
internal import Synchronization

/// The state of a simulator, for tests. After the simulator stops, its state stays readable. Before the simulator is
/// started, there is no state.
extension Simulator {
    /// The addresses of the listeners; `nil` unless the simulator runs.
    package var addresses: SimulatorAddresses? {
        running.withLock { phase in
            if case .running(_, _, let addresses) = phase { addresses } else { nil }
        }
    }

    /// The newest requests, the oldest first. There are at most `SimulatorOptions.journalCapacity`.
    package func journal() -> [JournalEntry] { look { $0.journal.entries } ?? [] }

    /// Removes all requests from the journal. If a call of `requests(_:where:)` is waiting, it also counts the removed
    /// requests.
    package func clearJournal() { look { $0.journal.removeAll() } }

    /// The app's channels in the order of their creation. The bundle ID's case does not matter.
    package func channels(of bundleID: String, in environment: APNsEnvironment) -> [SimulatedChannel] {
        look { $0.apns.channels(of: bundleID, in: environment) } ?? []
    }

    /// The message that a device would get if it came online now; `nil`: none.
    package func storedMessage(
        on channelID: String, of bundleID: String, in environment: APNsEnvironment
    ) -> StoredMessage? {
        core?.change { memory, now in
            memory.apns.storedMessage(on: channelID, of: bundleID, in: environment, now: now)
        } ?? nil
    }

    /// Waits until `count` matching requests are in the journal, including requests that are already there. A new
    /// request wakes the caller; nothing is polled.
    ///
    /// - Throws: `CancellationError` if the task is cancelled or the simulator stops; `SimulatorError` if the simulator
    ///   was not started.
    @discardableResult
    package func requests(
        _ count: Int, where matches: @escaping @Sendable (JournalEntry) -> Bool = { _ in true }
    ) async throws -> [JournalEntry] {
        guard let id = look({ $0.journal.reserveWaiterID() }) else {
            throw SimulatorError("The simulator was not started: start it before waiting for requests.")
        }
        let (stream, continuation) = AsyncStream.makeStream(of: [JournalEntry].self)
        let waiter = Journal.Waiter(id: id, count: count, matches: matches, found: [], continuation: continuation)
        defer { look { $0.journal.stopWaiting(id) } }
        if let found = look({ $0.journal.wait(waiter) }) ?? nil { return found }
        for await found in stream { return found }
        throw CancellationError()
    }

    @discardableResult
    func look<Result: Sendable>(_ body: @Sendable (inout SimulatorCore.Memory) -> Result) -> Result? {
        core?.change { memory, _ in body(&memory) }
    }

    /// `nil` before the simulator is started.
    var core: SimulatorCore? {
        running.withLock { phase in
            switch phase {
            case .idle, .starting: nil
            case .running(let core, _, _): core
            case .stopped(let core): core
            }
        }
    }
}

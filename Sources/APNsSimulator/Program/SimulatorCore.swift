internal import APNsWire
internal import FoundationEssentials
internal import Logging
internal import Synchronization

/// The simulator without its sockets: it processes a request, writes the journal, and sends or withholds the answer.
final class SimulatorCore: Sendable {
    struct Memory: Sendable {
        var apns: SimulatorState
        var journal: Journal
        var faults: FaultBook
        var counters = Counters()
        /// The number of seconds by which the simulator's clock is ahead of `SimulatorOptions.now`.
        var clockOffset = 0.0
        var watchers = Watchers()
    }

    /// One lock for everything; a request holds it for a few microseconds. Change devices only through `change`, which
    /// wakes the callers that wait for lock screens.
    let memory: Mutex<Memory>
    private let clock: @Sendable () -> Date
    private let logger: Logger

    init(
        _ apns: SimulatorState, journalCapacity: Int, seed: UInt64, now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        memory = Mutex(
            Memory(apns: apns, journal: Journal(capacity: journalCapacity), faults: FaultBook(seed: seed)))
        clock = now
        self.logger = logger
    }

    /// Reads or changes the state at the simulator's time, and wakes the callers that wait for lock screens.
    func change<Result: Sendable>(_ body: @Sendable (inout Memory, Date) -> Result) -> Result {
        let clock = clock()
        let (result, woken) = memory.withLock { memory in
            let version = memory.apns.devices.version
            let result = body(&memory, clock.addingTimeInterval(memory.clockOffset))
            let isSame = memory.apns.devices.version == version
            return (result, isSame ? [] : memory.watchers.take())
        }
        for continuation in woken { continuation.finish() }
        return result
    }

    /// - Parameter perform: called at once, later or never, on any thread, and not under the lock.
    func receive(_ request: SimulatorRequest, perform: @escaping @Sendable ([Reaction.Step]) -> Void) {
        let (reaction, completed) = change { memory, now in
            let (answer, reaction, fault) = Self.decide(request, &memory, now: now)
            if fault != nil { memory.counters.faultsActed += 1 }
            let operation = answer?.operation
            memory.counters.count(
                .init(
                    environment: request.environment, operation: operation, status: answer?.status ?? 0,
                    reason: answer?.reason))
            self.log(request, answer, fault)
            if let fault, reaction.delay == nil, !reaction.later.isEmpty {
                memory.faults.withhold({ perform(reaction.later) }, by: fault)
            }
            let requestID = answer?[header: SimulatorState.idHeader(of: request)] ?? ""
            let completed = memory.journal.record(
                JournalEntry(
                    number: 0, time: now, request: request, operation: operation, status: answer?.status ?? 0,
                    reason: answer?.reason, requestID: requestID, fate: reaction.fate, fault: fault))
            return (reaction, completed)
        }
        if !reaction.steps.isEmpty { perform(reaction.steps) }
        if let seconds = reaction.delay {
            Task {
                try? await Task.sleep(for: .seconds(seconds))
                perform(reaction.later)
            }
        }
        for waiter in completed { waiter.continuation.yield(waiter.found) }
    }

    private static func decide(
        _ request: SimulatorRequest, _ memory: inout Memory, now: Date
    ) -> (SimulatorAnswer?, Reaction, fault: String?) {
        guard let fault = memory.faults.claim(request) else {
            let answer = memory.apns.handle(request, now: now)
            return (answer, Reaction(answer), nil)
        }
        memory.apns.prepare(for: fault.action, request)
        var answer: SimulatorAnswer?
        if case .refuse(let reason, let status, let retryAfter) = fault.action {
            answer = memory.apns.refusal(reason, status: status, retryAfter: retryAfter, to: request)
        } else if fault.action.isProcessed {
            answer = memory.apns.handle(request, postponing: fault.action == .reorder, now: now)
        }
        return (answer, Reaction(answer, fault.action, environment: request.environment), fault.name)
    }

    /// Removes faults, and sends the answers that they withhold.
    ///
    /// - Returns: whether a fault was removed.
    @discardableResult
    func removeFaults(where isRemoved: @Sendable (Fault) -> Bool) -> Bool {
        let answers = change { memory, _ in memory.faults.remove(where: isRemoved) }
        for answer in answers ?? [] { answer() }
        return answers != nil
    }

    private func log(_ request: SimulatorRequest, _ answer: SimulatorAnswer?, _ fault: String?) {
        let isAccepted = answer.map { $0.reason == nil } ?? false
        logger.log(
            level: isAccepted ? .debug : .info,
            isAccepted ? "request accepted" : answer == nil ? "request not processed" : "request refused",
            metadata: [
                "environment": "\(request.environment.rawValue)", "method": "\(request.method)",
                "path": "\(request.path)", "status": "\(answer?.status ?? 0)",
                "reason": "\(answer?.reason?.rawValue ?? "-")", "fault": "\(fault ?? "-")",
                "apns-request-id": "\(answer?[header: APNsHeader.requestID] ?? "-")",
            ])
    }
}

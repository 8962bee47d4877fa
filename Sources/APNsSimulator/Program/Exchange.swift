internal import APNsWire
internal import FoundationEssentials
internal import Logging
internal import Synchronization

/// The simulator behind its sockets: takes a request, decides, writes the journal, and gives or withholds the answer.
final class Exchange: Sendable {
    struct Memory: Sendable {
        var apns: SimulatorState
        var journal: Journal
        var interventions = Interventions()
    }

    /// One lock over all: a request is a few microseconds within it.
    let memory: Mutex<Memory>
    private let now: @Sendable () -> Date
    private let logger: Logger

    init(_ apns: SimulatorState, journalCapacity: Int, now: @escaping @Sendable () -> Date, logger: Logger) {
        memory = Mutex(Memory(apns: apns, journal: Journal(capacity: journalCapacity)))
        self.now = now
        self.logger = logger
    }

    /// - Parameter respond: called at once, later, or never; on any thread, without the lock.
    func receive(_ request: SimulatorRequest, respond: @escaping @Sendable (SimulatorAnswer) -> Void) {
        let now = now()
        let (answer, action, completed) = memory.withLock { memory in
            let action = memory.interventions.claim(request)
            var answer: SimulatorAnswer
            let fate: JournalEntry.Fate
            switch action {
            case .answer(let given):
                answer = given
                memory.apns.complete(&answer, requestID: request[header: APNsHeader.requestID])
                fate = .answered
            case .hold:
                answer = memory.apns.handle(request, now: now)
                fate = .held
            case .drop:
                answer = memory.apns.handle(request, now: now)
                fate = .dropped
            case nil:
                answer = memory.apns.handle(request, now: now)
                fate = .answered
            }
            let completed = memory.journal.record(
                JournalEntry(
                    number: 0, time: now, request: request, status: answer.status, reason: answer.reason, fate: fate))
            return (answer, action, completed)
        }
        log(request, answer)
        switch action {
        case .answer, nil: respond(answer)
        case .hold(let hold): hold.keep { respond(answer) }
        case .drop: break
        }
        for waiter in completed { waiter.continuation.yield(waiter.found) }
    }

    private func log(_ request: SimulatorRequest, _ answer: SimulatorAnswer) {
        logger.log(
            level: answer.reason == nil ? .debug : .info, answer.reason == nil ? "request accepted" : "request refused",
            metadata: [
                "environment": "\(request.environment.rawValue)", "method": "\(request.method)",
                "path": "\(request.path)", "status": "\(answer.status)", "reason": "\(answer.reason?.rawValue ?? "-")",
                "apns-request-id": "\(answer[header: APNsHeader.requestID] ?? "-")",
            ])
    }
}

internal import FoundationEssentials
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// The outcome of one round of a `WorkLoop`: the work it claimed, and when the next round is wanted.
struct Round<Work: Sendable>: Sendable {
    let work: [Work]
    let next: NextRound

    /// Nothing was claimed.
    ///
    /// - Parameter due: when the next round is wanted if nothing rings before; `nil`: nothing is known to become due.
    static func idle(until due: Date? = nil) -> Round { Round(work: [], next: due.map { .at($0) } ?? .whenRung) }

    /// Work that is to begin now, and another round at once, for more may be due. Where there is none, the next is when
    /// `due` says.
    static func claimed(_ work: [Work], due: () async throws -> Date?) async rethrows -> Round {
        work.isEmpty ? .idle(until: try await due()) : Round(work: work, next: .now)
    }
}

/// When a loop wants its next round.
enum NextRound: Sendable, Equatable {
    case now
    case at(Date)
    /// When it is rung, or after the longest sleep.
    case whenRung

    /// Work that is due but could not be claimed (another replica holds its row) is claimed again after this.
    static let shortest = Duration.milliseconds(5)

    /// How long to sleep unless rung.
    func pause(now: Date, longest: Duration) -> Duration {
        switch self {
        case .now: .zero
        case .at(let due): min(longest, max(Self.shortest, .seconds(due.timeIntervalSince(now))))
        case .whenRung: longest
        }
    }
}

/// The loop of all that work off due rows: claim as many as there are free places, do the work, sleep until the
/// doorbell rings or the next row is due, and at a stop let the work under way end.
///
/// A round recomputes its work from the database; the reason it woke does not matter.
final class WorkLoop<Work: Sendable>: Sendable {
    struct Settings: Sendable {
        /// Pieces of work under way at a time.
        var places = 1
        /// The shortest time between a round that left the loop idle and the next, so that rings close together are one.
        var rest: Duration = .zero
        /// How many times longer than the round that rest is at least: a costly round takes a bounded share of the
        /// database, however often it is rung for. Never longer than `longestRest`: a round that took minutes waited for
        /// a database that hung.
        var restPerRound = 0
        var longestRest = Duration.seconds(2)
        /// The longest sleep: then work is found whose signal was lost.
        var pollInterval: Duration
        /// The pause after a round that failed.
        var retry: Duration = .seconds(1)
        /// How long a stop waits for the round and the work under way before it cancels them.
        var drain = Drain(.zero)

        /// The rest after a round that left the loop idle.
        func rest(after round: Duration) -> Duration { max(rest, min(longestRest, round * restPerRound)) }
    }

    private struct State {
        var underWay = 0
        /// Cancels the work under way when a stop has waited long enough; `nil` before a stop.
        var cut: Task<Void, any Error>?
    }

    private let settings: Settings
    private let failure: Logger.Message
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let mayClaim: @Sendable () -> Bool
    private let claim: @Sendable (_ free: Int) async throws -> Round<Work>
    private let perform: @Sendable (Work) async -> Void
    private let doorbell = Doorbell()
    private let state = Mutex(State())

    /// - Parameters:
    ///   - failure: the log message when a round throws; another round follows after `retry`.
    ///   - mayClaim: whether this process may take work on now; asked before every round.
    ///   - claim: one round, asked for at most so many pieces of work; never called while no place is free.
    ///   - perform: does a piece of work, in a task of its own; it is cancelled when a stop waits no longer.
    init(
        _ settings: Settings, failure: Logger.Message, logger: Logger, now: @escaping @Sendable () -> Date,
        mayClaim: @escaping @Sendable () -> Bool = { true },
        claim: @escaping @Sendable (_ free: Int) async throws -> Round<Work>,
        perform: @escaping @Sendable (Work) async -> Void
    ) {
        self.settings = settings
        self.failure = failure
        self.logger = logger
        self.now = now
        self.mayClaim = mayClaim
        self.claim = claim
        self.perform = perform
    }

    /// Asks for a round. One that is under way is followed by another.
    func ring() { doorbell.ring() }

    /// Runs until a graceful stop or a cancellation, which here mean the same: no more rounds, and the work under way
    /// may end within `drain`.
    ///
    /// - Parameter wakes: each element rings.
    func run(wakenBy wakes: AsyncStream<Void>...) async {
        await withDiscardingTaskGroup { group in
            for wakes in wakes { group.addTask { for await _ in wakes { self.ring() } } }
            // Not a child: the cancellation of this task must leave it the time to drain.
            let work = Task { await self.work() }
            await withGracefulShutdownHandler {
                await withTaskCancellationHandler {
                    await work.value
                } onCancel: {
                    self.stop(work)
                }
            } onGracefulShutdown: {
                self.stop(work)
            }
            state.withLock { $0.cut }?.cancel()
            group.cancelAll()
        }
    }

    private func work() async {
        // Discarding: an ordinary group keeps every task that has ended, for as long as the loop runs.
        await withDiscardingTaskGroup { group in
            while goesOn {
                let began = ContinuousClock.now
                let (claimed, pause) = await self.round()
                let taken = began.duration(to: .now)
                for work in claimed {
                    change(by: 1)
                    group.addTask {
                        await self.perform(work)
                        self.change(by: -1)
                        self.ring()
                    }
                }
                guard pause > .zero, goesOn else { continue }
                let rest = settings.rest(after: taken)
                if rest > .zero { try? await Task.sleep(for: rest) }
                if goesOn { await doorbell.wait(atMost: pause) }
            }
        }
    }

    /// - Returns: work to begin, and how long to sleep then unless rung.
    private func round() async -> ([Work], Duration) {
        let free = settings.places - state.withLock { $0.underWay }
        // The work that ends and so makes room rings.
        guard free > 0, mayClaim() else { return ([], settings.pollInterval) }
        do {
            let round = try await claim(free)
            return (round.work, round.next.pause(now: now(), longest: settings.pollInterval))
        } catch {
            logger.failed(failure, error)
            return ([], settings.retry)
        }
    }

    private var goesOn: Bool { !Task.isCancelled && state.withLock { $0.cut == nil } }

    private func change(by change: Int) { state.withLock { $0.underWay += change } }

    private func stop(_ work: Task<Void, Never>) {
        state.withLock { state in
            guard state.cut == nil else { return }
            state.cut = Task { [drain = settings.drain] in
                try await drain.wait()
                work.cancel()
            }
        }
        ring()
    }
}

extension WorkLoop where Work == Never {
    /// A loop whose rounds do all there is to do themselves.
    convenience init(
        _ settings: Settings, failure: Logger.Message, logger: Logger, now: @escaping @Sendable () -> Date,
        mayClaim: @escaping @Sendable () -> Bool = { true }, round: @escaping @Sendable () async throws -> Round<Never>
    ) {
        self.init(
            settings, failure: failure, logger: logger, now: now, mayClaim: mayClaim, claim: { _ in try await round() },
            perform: { _ in })
    }
}

internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// The outcome of one round of a `WorkLoop`: the work that the round claimed, and when the next round is due.
struct Round<Work: Sendable>: Sendable {
    var work: [Work] = []
    /// Returns when the next round is due if the loop's doorbell is not rung before; `nil`: no due time is known. The
    /// claimed work begins first, so no message waits for this answer.
    let due: @Sendable () async throws -> Date?

    /// Nothing was claimed.
    static func idle(until due: Date? = nil) -> Round { Round { due } }

    /// The claimed work begins now. Another round follows at once, because more work may be due. If `work` is empty,
    /// the next round is at `due`.
    static func claimed(_ work: [Work], due: () async throws -> Date?) async rethrows -> Round {
        work.isEmpty ? .idle(until: try await due()) : Round(work: work) { .distantPast }
    }
}

/// The loop for all leased work. It claims as many pieces of work as there are free places, does the work, and records
/// the results. It sleeps until the doorbell rings or the next piece of work is due. At a stop, work in progress may
/// finish.
///
/// A round computes its work from the database, so the reason for waking does not matter. A place is free as soon as
/// its work is done, even before the result is recorded.
final class WorkLoop<Work: Sendable>: Sendable {
    /// Records the result of a piece of work. The recording is repeated while the database is away or another
    /// transaction has locked the rows of the work.
    typealias Settling = @Sendable () async throws -> Void

    struct Settings: Sendable {
        /// The maximum number of pieces of work in progress.
        var places = 1
        /// The number of free places that a claim needs. Each claim costs one disk write, however few pieces of work
        /// the claim takes.
        var leastRoom = 1
        /// The shortest time between a round that left the loop idle and the next round. All rings in this time
        /// together cause only one round.
        var rest: Duration = .zero
        /// The pause after a round that left the loop idle, as a multiple of the round's duration. The pause is at most
        /// `longestRest`. However often somebody rings, the pause bounds the share of the database's time that costly
        /// rounds take. The upper limit is for a round that took minutes because the database hung.
        var restPerRound = 0
        var longestRest = Duration.seconds(2)
        /// The longest sleep. The poll after this sleep finds work whose signal was lost.
        var pollInterval: Duration
        /// Whether each recorded result causes a round, because more work may be due after it. `false`: somebody else
        /// rings then.
        var ringsWhenSettled = true
        /// The pause after a round that failed.
        var retry: Duration = .seconds(1)
        /// The duration of the leases in seconds. `extend` renews the leases three times in this time. `nil`: the work
        /// has no leases, or renews its leases itself.
        var lease: TimeInterval?
        /// How long a stop waits for the running round and the work in progress before the stop cancels them.
        var drain = Drain(.zero)

        /// How long to sleep after a round if nobody rings.
        ///
        /// - Parameter isIdle: whether the round claimed nothing. Work may be due that could not be claimed, because
        ///   another replica has locked its row, so the next claim is a few milliseconds later.
        func pause(until due: Date?, now: Date, isIdle: Bool) -> Duration {
            guard let due else { return pollInterval }
            return min(pollInterval, max(isIdle ? .milliseconds(5) : .zero, .seconds(due.timeIntervalSince(now))))
        }

        /// The rest after a round that left the loop idle.
        func rest(after round: Duration) -> Duration { max(rest, min(longestRest, round * restPerRound)) }
    }

    /// The functions of a loop.
    struct Steps: Sendable {
        /// Whether this process may claim work now. The function is called before every round.
        var mayClaim: @Sendable () -> Bool = { true }
        /// Performs one round, with at most `free` pieces of work. The function is never called while fewer than
        /// `leastRoom` places are free.
        ///
        /// - Parameter lasting: the pieces of work whose leases are renewed and that are not recorded yet.
        var claim: @Sendable (_ free: Int, _ lasting: [Work]) async throws -> Round<Work>
        /// Performs a piece of work in a separate task. If a stop no longer waits for the work, this task is cancelled.
        ///
        /// - Returns: the function that records the result. When this function is called, the place is already free,
        ///   but the lease is still held. `nil`: there is nothing to record.
        var perform: @Sendable (Work) async -> Settling? = { _ in nil }
        /// Returns the function that records given-up work: work that a stop no longer waits for. A later result of this
        /// work is dropped. `giveUp` is `nil`: a stop waits until the cancelled work ends.
        var giveUp: (@Sendable (Work) -> Settling)?
        /// Renews the leases of work that already existed at the last renewal.
        var extend: (@Sendable ([Work]) async throws -> Void)?
    }

    private struct Piece {
        let work: Work
        let since = ContinuousClock.now
        /// The task that does the work; `nil`: the work is done or given up, but not recorded yet.
        var doing: Task<Void, Never>?
    }

    private struct State {
        /// Whether rounds run: the loop runs, and no stop has begun.
        var isOpen = false
        /// Whether a stop no longer waits for work to end.
        var isCut = false
        var pieces: [Int: Piece] = [:]
        var begun = 0
        var doing = 0
    }

    private let settings: Settings
    private let steps: Steps
    private let claiming: OutageLog
    private let results: OutageLog
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let doorbell = Doorbell()
    private let ended = Doorbell()
    private let state = Mutex(State())

    /// - Parameter failure: the log message when rounds fail; another round follows after `retry`.
    init(
        _ settings: Settings, failure: String, logger: Logger, now: @escaping @Sendable () -> Date, _ steps: Steps
    ) {
        self.settings = settings
        self.steps = steps
        self.logger = logger
        self.now = now
        claiming = OutageLog(failure, logger)
        results = OutageLog("results of finished work could not be recorded", logger)
    }

    /// Requests a round. If a round is running, another round follows.
    func ring() { doorbell.ring() }

    private var isOpen: Bool { state.withLock { $0.isOpen } }

    /// The pieces of work that are old enough for a renewal of their leases and are not recorded yet.
    private var lasting: [Work] {
        guard let lease = settings.lease else { return [] }
        return state.withLock { state in
            state.pieces.values.filter { $0.since.duration(to: .now) > .seconds(lease / 3) }.map(\.work)
        }
    }

    // MARK: Rounds

    /// Runs until a graceful stop or a cancellation. Both have the same effect: no more rounds run, and work in
    /// progress may end within `drain`.
    ///
    /// - Parameter wakes: each element rings the doorbell.
    func run(wakenBy wakes: AsyncStream<Void>? = nil) async {
        state.withLock { $0.isOpen = true }
        let keeper = settings.lease.map { lease in
            keepLease(of: lease, logger) {
                let lasting = self.lasting
                if !lasting.isEmpty { try await self.steps.extend?(lasting) }
            }
        }
        defer { keeper?.cancel() }
        await withDiscardingTaskGroup { group in
            if let wakes { group.addTask { for await _ in wakes { self.ring() } } }
            _ = await settings.drain.run(onStop: close, onEnd: cut) {
                await self.rounds()
                // This wait runs in a separate task, which is not cancelled with the rounds, because unrecorded results
                // wait for the database.
                await Task { await self.waitUntilSettled() }.value
            }
            group.cancelAll()
        }
    }

    private func rounds() async {
        while isOpen, !Task.isCancelled {
            let began = ContinuousClock.now
            let pause = await round()
            guard pause > .zero, isOpen else { continue }
            let rest = settings.rest(after: began.duration(to: .now))
            if rest > .zero { try? await Task.sleep(for: rest) }
            if isOpen { await doorbell.wait(atMost: pause) }
        }
    }

    /// - Returns: how long to sleep if nobody rings.
    private func round() async -> Duration {
        let free = settings.places - state.withLock { $0.doing }
        // If too few places are free, the end of a piece of work rings the doorbell.
        guard free >= settings.leastRoom, steps.mayClaim() else { return settings.pollInterval }
        do {
            let round = try await steps.claim(free, lasting)
            claiming.worked()
            for work in round.work { start(work) }
            let due = try await round.due()
            return settings.pause(until: due, now: now(), isIdle: round.work.isEmpty)
        } catch {
            claiming.failed(error)
            return settings.retry
        }
    }

    // MARK: Pieces of work

    /// Begins claimed work. If a stop no longer waits for work, the work is given up instead.
    private func start(_ work: Work) {
        state.withLock { state in
            state.begun += 1
            let number = state.begun
            if state.isCut, let giveUp = steps.giveUp {
                state.pieces[number] = Piece(work: work, doing: nil)
                Task.detached { await self.settle(number, giveUp(work)) }
                return
            }
            state.doing += 1
            let doing = Task.detached { await self.end(number, with: await self.steps.perform(work)) }
            state.pieces[number] = Piece(work: work, doing: doing)
            if state.isCut { doing.cancel() }
        }
    }

    private func end(_ number: Int, with settling: Settling?) async {
        let hasMadeRoom = state.withLock { state -> Bool? in
            // The work was given up in the meantime.
            guard state.pieces[number]?.doing != nil else { return nil }
            state.pieces[number]?.doing = nil
            state.doing -= 1
            return settings.places - state.doing == settings.leastRoom
        }
        guard let hasMadeRoom else { return }
        if hasMadeRoom { ring() }
        await settle(number, settling)
    }

    private func settle(_ number: Int, _ settling: Settling?) async {
        if let settling { await record(settling) }
        let isLast = state.withLock { state in
            state.pieces[number] = nil
            return state.pieces.isEmpty
        }
        if settings.ringsWhenSettled { ring() }
        if isLast { ended.ring() }
    }

    /// Repeats `settling` until the database accepts the result, or a stop no longer waits. Then the work stays leased,
    /// and is repeated when its lease ends.
    private func record(_ settling: Settling) async {
        let isOver = { self.settings.drain.isOver(for: .seconds(1)) }
        do {
            try await insisting(until: isOver, onFailure: results.failed) { try await settling() }
            results.worked()
        } catch  where !isOver() {
            logger.failed("the result of finished work was not recorded; the work may be repeated", error)
        } catch {}
    }

    // MARK: Stopping

    @Sendable private func close() {
        state.withLock { $0.isOpen = false }
        ring()
    }

    @Sendable private func cut() {
        state.withLock { state in
            state.isCut = true
            for (number, piece) in state.pieces {
                piece.doing?.cancel()
                guard piece.doing != nil, let giveUp = steps.giveUp else { continue }
                state.pieces[number]?.doing = nil
                state.doing -= 1
                Task.detached { await self.settle(number, giveUp(piece.work)) }
            }
        }
    }

    private func waitUntilSettled() async {
        while state.withLock({ !$0.pieces.isEmpty }) { await ended.wait(atMost: .seconds(1)) }
    }
}

extension WorkLoop {
    /// A loop whose `perform` also records the result.
    ///
    /// - Parameter perform: without it, the rounds do all the work themselves.
    convenience init(
        _ settings: Settings, failure: String, logger: Logger, now: @escaping @Sendable () -> Date,
        mayClaim: @escaping @Sendable () -> Bool = { true },
        claim: @escaping @Sendable (_ free: Int) async throws -> Round<Work>,
        perform: @escaping @Sendable (Work) async -> Void = { _ in }
    ) {
        self.init(
            settings, failure: failure, logger: logger, now: now,
            Steps(
                mayClaim: mayClaim, claim: { free, _ in try await claim(free) },
                perform: {
                    await perform($0)
                    return nil
                }))
    }
}

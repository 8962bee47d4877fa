internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import Synchronization

/// The loop for all leased work. It claims as many pieces of work as there are free slots, does the work, and records
/// the results. It sleeps until somebody wakes it or the next piece of work is due.
///
/// A round computes its work from the database, so the reason for waking does not matter. A slot is free as soon as
/// its work is done, even before the result is recorded.
final class WorkLoop<Work: Sendable>: Sendable {
    /// Records the result of a piece of work. The recording is repeated while the database is away or another
    /// transaction has locked the rows of the work.
    typealias Settling = @Sendable () async throws -> Void

    struct Settings: Sendable {
        /// The maximum number of pieces of work in progress.
        var slots = 1
        /// The number of free slots that a claim needs. Each claim costs one disk write, however few pieces of work
        /// the claim takes.
        var leastRoom = 1
        /// The shortest time between a round that left the loop idle and the next round. All wake-ups in this time
        /// together cause only one round.
        var minPause: Duration = .zero
        /// The longest sleep. The poll after this sleep finds work whose signal was lost.
        var pollInterval: Duration
        /// Whether each recorded result causes a round, because more work may be due after it. `false`: somebody else
        /// wakes the loop then.
        var runsWhenSettled = true
        /// The pause after a round that failed.
        var retry: Duration = .seconds(1)
        /// The signal of new work.
        var topic: WakeTopic?

        /// How long to sleep after a round if nobody wakes it: a few milliseconds at least if the round claimed nothing,
        /// because work may be due whose row another replica has locked.
        func pause(until due: Date?, now: Date, isIdle: Bool) -> Duration {
            guard let due else { return pollInterval }
            return min(pollInterval, max(isIdle ? .milliseconds(5) : .zero, .seconds(due.timeIntervalSince(now))))
        }
    }

    private struct State {
        /// Whether rounds run: no stop has begun.
        var isOpen = true
        /// The work that is not recorded yet, by number.
        var pieces: [Int: (work: Work, since: ContinuousClock.Instant)] = [:]
        var lastNumber = 0
        var busySlots = 0
        /// Whether rounds fail, and the log says so.
        var isFailing = false
    }

    private let settings: Settings
    private let claim: @Sendable (_ free: Int, _ loop: WorkLoop) async throws -> Round<Work>
    private let perform: @Sendable (Work) async -> Settling?
    private let extend: (@Sendable ([Work]) async throws -> Void)?
    private let failure: String
    private let worker: Worker
    /// How long a stop waits for the running round and the work in progress before the stop cancels them.
    private let drain: Drain
    /// Several wake-ups before a sleep count as one, which ends the sleep at once.
    private let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let state = Mutex(State())

    /// - Parameters:
    ///   - failure: the log message when rounds fail; another round follows after `retry`.
    ///   - claim: performs one round, with at most `free` pieces of work. It is never called while fewer than
    ///     `leastRoom` slots are free. `loop` knows the work that is not recorded yet.
    ///   - perform: does a piece of work, and returns what records its result; `nil`: nothing is recorded. At the end
    ///     of the drain its task is cancelled; then it returns what records that.
    ///   - extend: renews the leases of work that already existed at the last renewal, three times in each lease time.
    ///     `nil`: the work has no leases, or renews its leases itself. Then a stop cancels it at once.
    init(
        _ settings: Settings, failure: String, _ worker: Worker,
        claim: @escaping @Sendable (_ free: Int, _ loop: WorkLoop) async throws -> Round<Work>,
        perform: @escaping @Sendable (Work) async -> Settling? = { _ in nil },
        extend: (@Sendable ([Work]) async throws -> Void)? = nil
    ) {
        (self.settings, self.worker, self.claim, self.perform) = (settings, worker, claim, perform)
        (self.failure, self.extend, drain) = (failure, extend, extend == nil ? Drain(.zero) : worker.drain)
    }

    /// Requests a round. If a round is running, another round follows.
    func wake() { waker.yield() }

    /// The work that is not recorded yet, and that part of it whose leases are old enough for a renewal.
    var unrecorded: [Work] { state.withLock { $0.pieces.values.map(\.work) } }
    var renewable: [Work] {
        let last = ContinuousClock.now - .seconds(worker.lease / 3)
        return state.withLock(\.pieces).values.filter { $0.since < last }.map(\.work)
    }

    /// Runs until a graceful stop or a cancellation. Both have the same effect: no more rounds run, and work in
    /// progress may end within `drain`.
    func run() async {
        let keeper = extend.map { extend in
            worker.keepLease {
                let lasting = self.renewable
                if !lasting.isEmpty { try await extend(lasting) }
            }
        }
        let signals = settings.topic.map(worker.signals.wakes)
        let listener = signals.map { signals in Task { for await _ in signals { wake() } } }
        _ = await drain.protect(onStop: {
            self.state.withLock { $0.isOpen = false }
            self.wake()
        }) {
            await withDiscardingTaskGroup { group in
                var wakes = self.wakes.makeAsyncIterator()
                while self.state.withLock(\.isOpen) {
                    let pause = await self.round(&group)
                    guard pause > .zero else { continue }
                    try? await Task.sleep(for: self.settings.minPause)
                    let timer = Task { if (try? await Task.sleep(for: pause)) != nil { self.wake() } }
                    await wakes.next()
                    timer.cancel()
                }
            }
        }
        for task in [keeper, listener] { task?.cancel() }
    }

    /// - Returns: how long to sleep if nobody wakes it.
    private func round(_ group: inout DiscardingTaskGroup) async -> Duration {
        // A stop may have begun since the loop looked. Then the end of its last work must not make room for more.
        let free = state.withLock { $0.isOpen ? settings.slots - $0.busySlots : 0 }
        // If too few slots are free, the end of a piece of work wakes the loop. A round that claims nothing is always
        // allowed.
        guard free >= settings.leastRoom, Work.self == Never.self || worker.mayClaim() else {
            return settings.pollInterval
        }
        do {
            // Leases count from the claim's begin, however long it takes.
            let began = ContinuousClock.now
            let round = try await claim(free, self)
            note(nil)
            for work in round.work {
                let number = state.withLock { state in
                    (state.lastNumber, state.busySlots) = (state.lastNumber + 1, state.busySlots + 1)
                    state.pieces[state.lastNumber] = (work, began)
                    return state.lastNumber
                }
                group.addTask { await self.carryOut(work, number) }
            }
            return settings.pause(until: try await round.due(), now: worker.now(), isIdle: round.work.isEmpty)
        } catch {
            note(error)
            return settings.retry
        }
    }

    /// Logs the beginning and the end of an outage. `DatabaseWatch` logs the database's troubles once for all work. Of these
    /// troubles, only a slow statement is logged here, because a slow statement concerns this work only.
    private func note(_ error: (any Error)?) {
        let trouble = (error as? Problem)?.trouble
        let isNews = !Task.isCancelled && (trouble == nil || trouble == .slow)
        let wasFailing = state.withLock { state in
            defer { state.isFailing = error != nil && (isNews || state.isFailing) }
            return state.isFailing
        }
        if let error {
            let level: Logger.Level = isNews && !wasFailing ? .warning : .debug
            worker.logger.failed("\(failure); trying again", error, at: level)
        } else if wasFailing {
            worker.logger.notice("over: \(failure)")
        }
    }

    private func carryOut(_ work: Work, _ number: Int) async {
        let settling = await perform(work)
        state.withLock { state in
            state.busySlots -= 1
            if settings.slots - state.busySlots == settings.leastRoom { wake() }
        }
        // A stop does not cancel this task.
        if let settling { await Task { await record(settling) }.value }
        state.withLock { $0.pieces[number] = nil }
        if settings.runsWhenSettled { wake() }
    }

    /// Repeats `settling` until the database accepts the result, or a stop no longer waits. Then the work stays leased,
    /// and is repeated when its lease ends.
    private func record(_ settling: Settling) async {
        let isOver = { self.drain.isOver(for: .seconds(1)) }
        do {
            try await insisting(until: isOver, settling)
        } catch  where !isOver() {
            worker.logger.failed("the result of finished work was not recorded; the work may be repeated", error)
        } catch {}
    }
}

internal import Grandstand
internal import Postgres

/// Shares the answers to expensive questions among the callers that ask them. The work for a question runs once at a
/// time. Callers that ask while the work runs share the next answer. After an answer, the work pauses for as long as it
/// took, but for a second at most. So the cost is bounded, however many callers ask.
///
/// A caller waits no longer than its `PostgresTimeLimit`, but the work continues. Once a caller has stopped waiting,
/// the answer is late: all callers that ask before the late answer is ready share it. A late answer is kept for as long
/// as the work took. So if a count takes longer than a call may wait, callers that ask again get the late answer.
actor SharedFlight<Question: Hashable & Sendable, Answer: Sendable> {
    typealias Work = @Sendable () async throws -> Answer

    private struct Caller {
        let continuation: CheckedContinuation<Answer, any Error>
        let timer: Task<Void, any Error>?

        func resume(with result: Result<Answer, any Error>) {
            timer?.cancel()
            continuation.resume(with: result)
        }
    }

    private struct Round {
        /// Callers that wait for the answer that is being made, by number. `next` has the callers that wait for the
        /// answer after it.
        var current: [Int: Caller] = [:]
        var next: [Int: Caller] = [:]
        /// The work that the last caller gave.
        var work: Work
        var isLate = false
        /// A late answer that is ready. It is kept until the pause ends.
        var kept: Answer?
    }

    private var rounds: [Question: Round] = [:]
    private var number = 0
    private let rest: @Sendable (Duration) async -> Void
    private static var longestRest: Duration { .seconds(1) }

    /// - Parameter rest: waits for the given time.
    init(rest: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }) {
        self.rest = rest
    }

    /// The number of callers that wait for the next answer. The work for the next answer begins when the present answer
    /// is ready.
    func waitingCount(_ question: Question) -> Int { rounds[question]?.next.count ?? 0 }

    /// The number of callers that wait for the answer that is being made.
    func sharingCount(_ question: Question) -> Int { rounds[question]?.current.count ?? 0 }

    /// Whether an answer is kept that callers get without new work.
    func keeps(_ question: Question) -> Bool { rounds[question]?.kept != nil }

    /// - Parameter work: answers the question, in its own task. The work is not part of its caller's transaction, and
    ///   continues when the caller is cancelled or stops waiting.
    /// - Throws: what `work` throws; `store-unavailable` if the answer takes longer than the caller may wait.
    func answer(_ question: Question, _ work: @escaping Work) async throws -> Answer {
        if let kept = rounds[question]?.kept { return kept }
        return try await PostgresTimeLimit.counting {
            try await withCheckedThrowingContinuation { join(question, work, $0) }
        }
    }

    private func join(
        _ question: Question, _ work: @escaping Work, _ continuation: CheckedContinuation<Answer, any Error>
    ) {
        number += 1
        let timeLimit = PostgresTimeLimit.current
        let timer = timeLimit.map { [number] timeLimit in
            Task {
                try await Task.sleep(for: timeLimit.rest)
                giveUp(number, question)
            }
        }
        let isNew = rounds[question] == nil
        var round = rounds[question] ?? Round(work: work)
        round.work = work
        let caller = Caller(continuation: continuation, timer: timer)
        if round.isLate {
            round.current[number] = caller
        } else {
            round.next[number] = caller
        }
        rounds[question] = round
        guard isNew else { return }
        Task.detached {
            await PostgresTimeLimit.$current.withValue(timeLimit?.long) { await self.serve(question) }
        }
    }

    private func giveUp(_ number: Int, _ question: Question) {
        guard var round = rounds[question],
            let caller = round.current.removeValue(forKey: number) ?? round.next.removeValue(forKey: number)
        else { return }
        round.isLate = true
        round.current.merge(round.next) { $1 }
        round.next = [:]
        rounds[question] = round
        caller.resume(
            with: .failure(
                Problem(
                    .storeUnavailable,
                    "The database took too long to count this; nothing was changed. The count goes on: try again.",
                    retryAfter: 1)))
    }

    private func serve(_ question: Question) async {
        while let work = begin(question) {
            let began = ContinuousClock.now
            let result: Result<Answer, any Error>
            do {
                result = .success(try await PostgresTimeLimit.renewing { try await work() })
            } catch {
                result = .failure(error)
            }
            let callers = rounds[question]?.current ?? [:]
            rounds[question]?.current = [:]
            for caller in callers.values { caller.resume(with: result) }
            let isLate = rounds[question]?.isLate ?? false
            rounds[question]?.isLate = false
            // After a failure there is no pause, because callers have already waited long enough for a database that
            // cannot be reached.
            guard case .success(let answer) = result else { continue }
            let took = began.duration(to: .now)
            if isLate { rounds[question]?.kept = answer }
            await rest(isLate ? took : min(took, Self.longestRest))
            rounds[question]?.kept = nil
        }
        rounds[question] = nil
    }

    /// - Returns: the work, if callers wait for the next answer or a caller stopped waiting for the present answer;
    ///   otherwise `nil`.
    private func begin(_ question: Question) -> Work? {
        guard var round = rounds[question], !round.next.isEmpty || round.isLate else { return nil }
        round.current.merge(round.next) { $1 }
        round.next = [:]
        rounds[question] = round
        return round.work
    }
}

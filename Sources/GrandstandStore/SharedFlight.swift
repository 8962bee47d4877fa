internal import Grandstand
internal import Postgres

/// Shares the answers to expensive questions among the callers that ask them. The work for a question runs once at a
/// time. Callers that ask meanwhile share the next answer, or the one that is being made if it was begun less than
/// `age` ago. After an answer, the work pauses for as long as it took, a second at most. So the cost is bounded,
/// however many callers ask.
///
/// A caller waits no longer than its `PostgresPatience`, but the work continues. From then on the answer is late: all
/// callers that ask before it is ready share it, and it is kept for as long as it took. So if a count takes longer than
/// a call may wait, callers that ask again get it.
package actor SharedFlight<Question: Hashable & Sendable, Answer: Sendable> {
    package typealias Work = @Sendable () async throws -> Answer

    private struct Caller {
        let continuation: CheckedContinuation<Answer, any Error>
        let timer: Task<Void, any Error>?

        func resume(with result: Result<Answer, any Error>) {
            timer?.cancel()
            continuation.resume(with: result)
        }
    }

    private struct Round {
        /// Callers of the answer that is being made, and of the next, by number.
        var current: [Int: Caller] = [:]
        var next: [Int: Caller] = [:]
        /// The work of the last caller.
        var work: Work
        var isLate = false
        /// When the answer that is being made was begun.
        var began = ContinuousClock.now
        /// An answer that needs no new work: a late one that is there, or one that is young enough.
        var kept: Answer?
    }

    private var rounds: [Question: Round] = [:]
    private var number = 0
    private let age: Duration
    private let rest: @Sendable (Duration) async -> Void
    private static var longestRest: Duration { .seconds(1) }

    /// - Parameters:
    ///   - age: an answer may have been begun up to this long before its question.
    ///   - rest: waits for the given time.
    package init(
        age: Duration = .zero,
        rest: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.age = age
        self.rest = rest
    }

    /// The number of callers that wait for the next answer, which is begun when the present one is ready.
    func waitingCount(_ question: Question) -> Int { rounds[question]?.next.count ?? 0 }

    /// The number of callers that wait for the answer that is being made.
    func sharingCount(_ question: Question) -> Int { rounds[question]?.current.count ?? 0 }

    /// Whether a late answer is there.
    func keeps(_ question: Question) -> Bool { rounds[question]?.kept != nil }

    /// - Parameter work: answers the question, in its own task. It is not part of its caller's transaction, and
    ///   continues when its caller is cancelled or stops waiting.
    /// - Throws: what `work` throws; `store-unavailable` if the answer takes longer than the caller may wait.
    package func answer(_ question: Question, _ work: @escaping Work) async throws -> Answer {
        if let kept = rounds[question]?.kept { return kept }
        return try await PostgresPatience.counting {
            try await withCheckedThrowingContinuation { join(question, work, $0) }
        }
    }

    private func join(
        _ question: Question, _ work: @escaping Work, _ continuation: CheckedContinuation<Answer, any Error>
    ) {
        number += 1
        let patience = PostgresPatience.current
        let timer = patience.map { [number] patience in
            Task {
                try await Task.sleep(for: patience.rest)
                giveUp(number, question)
            }
        }
        let isNew = rounds[question] == nil
        var round = rounds[question] ?? Round(work: work)
        round.work = work
        let caller = Caller(continuation: continuation, timer: timer)
        if round.isLate || !isNew && round.began.duration(to: .now) < age {
            round.current[number] = caller
        } else {
            round.next[number] = caller
        }
        rounds[question] = round
        guard isNew else { return }
        Task.detached {
            await PostgresPatience.$current.withValue(patience?.long) { await self.serve(question) }
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
                result = .success(try await PostgresPatience.renewing { try await work() })
            } catch {
                result = .failure(error)
            }
            let callers = rounds[question]?.current ?? [:]
            rounds[question]?.current = [:]
            for caller in callers.values { caller.resume(with: result) }
            let isLate = rounds[question]?.isLate ?? false
            rounds[question]?.isLate = false
            // There is no rest after a failure: callers have waited long enough for a database that is away.
            guard case .success(let answer) = result else { continue }
            let took = began.duration(to: .now)
            if isLate || took < age { rounds[question]?.kept = answer }
            // A late answer is kept for as long as it took, but at most for `age` if that is not zero.
            let late = age > .zero ? min(age, took) : took
            await rest(isLate ? late : max(age - took, min(took, Self.longestRest)))
            rounds[question]?.kept = nil
        }
        rounds[question] = nil
    }

    /// - Returns: the work, if callers wait for the next answer or a caller gave up waiting for the present one; `nil`:
    ///   neither.
    private func begin(_ question: Question) -> Work? {
        guard var round = rounds[question], !round.next.isEmpty || round.isLate else { return nil }
        round.current.merge(round.next) { $1 }
        round.next = [:]
        round.began = .now
        rounds[question] = round
        return round.work
    }
}

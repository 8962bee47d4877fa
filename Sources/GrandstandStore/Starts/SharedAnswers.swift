internal import Postgres

/// Answers to costly questions: one at a time for each, and a caller that asks meanwhile shares the next. So an answer
/// is never older than its question, and the cost is bounded however many ask: as long as it took, a second at most, it
/// rests.
actor SharedAnswers<Question: Hashable & Sendable, Answer: Sendable> {
    typealias Work = @Sendable () async throws -> Answer

    private struct Waiting {
        var callers: [CheckedContinuation<Answer, any Error>] = []
        /// Of the last caller.
        var work: Work?
    }

    /// Questions that are being answered, with the callers that came meanwhile.
    private var waiting: [Question: Waiting] = [:]
    private static var longestRest: Duration { .seconds(1) }

    /// How many wait for the next answer to a question.
    func waitingCount(_ question: Question) -> Int { waiting[question]?.callers.count ?? 0 }

    /// - Parameter work: answers the question, in a task of its own: it is no part of its caller's transaction, and goes
    ///   on when its caller is cancelled.
    func answer(_ question: Question, _ work: @escaping Work) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            let isNew = waiting[question] == nil
            waiting[question, default: Waiting()].callers.append(continuation)
            waiting[question]?.work = work
            if isNew {
                Task.detached { [patience = PostgresPatience.current] in
                    await PostgresPatience.$current.withValue(patience?.long) { await self.serve(question) }
                }
            }
        }
    }

    private func serve(_ question: Question) async {
        while let round = waiting[question], let work = round.work {
            waiting[question] = Waiting()
            let began = ContinuousClock.now
            let result: Result<Answer, any Error>
            do {
                result = .success(try await work())
            } catch {
                result = .failure(error)
            }
            for caller in round.callers { caller.resume(with: result) }
            // Whoever came meanwhile has waited long enough for a database that is away.
            guard case .success = result else { continue }
            try? await Task.sleep(for: min(began.duration(to: .now), Self.longestRest))
        }
        waiting[question] = nil
    }
}

internal import Foundation

extension GrandstandClient {
    /// Makes a request until it is answered, refused for good, or its policy says that it is enough.
    ///
    /// - Parameter isWanted: whether an answer is one although its status says otherwise.
    /// - Returns: the last answer, whatever its status.
    /// - Throws: `URLError` when the last attempt had no answer; `CancellationError` at once.
    func exchange(
        _ request: Request, as policy: RetryPolicy, isWanted: (Answer) -> Bool
    ) async throws -> Answer {
        let began = time.uptime()
        var request = request
        var made = 0
        // An attempt before this one may have been carried out without our knowing.
        var isInDoubt = false
        while true {
            let left = policy.deadline - (time.uptime() - began)
            request.timeout = max(RetryPolicy.shortest, min(request.timeout, left))
            let result = await attempt(request)
            made += 1
            try Task.checkCancellation()
            let outcome: RetryPolicy.Outcome
            switch result {
            case .success(let answer):
                if isWanted(answer) { return answer }
                // What is to go is gone.
                if isInDoubt, request.method == "DELETE", answer.status == 404 {
                    return Answer(status: 204, headers: answer.headers, body: Data())
                }
                outcome = .answer(
                    status: answer.status, kind: ServerProblem(answer).kind, retryAfter: answer.retryAfter)
                if answer.status != 429 { isInDoubt = true }
            case .failure(let error):
                outcome = .fault(error)
                isInDoubt = true
            }
            let elapsed = time.uptime() - began
            guard let wait = policy.wait(after: outcome, made: made, elapsed: elapsed, chance: time.chance()) else {
                return try result.get()
            }
            try await time.sleep(wait)
        }
    }

    private func attempt(_ request: Request) async -> Result<Answer, any Error> {
        do {
            return .success(try await transport.open(request).whole())
        } catch {
            return .failure(error)
        }
    }
}

internal import Foundation

extension GrandstandClient {
    /// Repeats a request until it has a final answer, or the policy allows no more attempts.
    ///
    /// - Parameter isWanted: whether an answer is final although its status is not 2xx.
    /// - Returns: the last answer, whatever its status.
    /// - Throws: `URLError` if the last attempt had no answer; `CancellationError` at once.
    func exchange(
        _ request: Request, as policy: RetryPolicy, isWanted: (Answer) -> Bool
    ) async throws -> Answer {
        let began = time.uptime()
        var request = request
        var made = 0
        // Whether the server may have processed an earlier attempt.
        var isInDoubt = false
        while true {
            let left = policy.deadline - (time.uptime() - began)
            request.timeout = max(RetryPolicy.shortest, min(request.timeout, left))
            let result: Result<Answer, any Error>
            do { result = .success(try await transport.open(request)) } catch { result = .failure(error) }
            made += 1
            try Task.checkCancellation()
            let outcome: RetryPolicy.Outcome
            switch result {
            case .success(let answer):
                if isWanted(answer) { return answer }
                // An earlier attempt may have deleted the resource, so 404 is success.
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
}

public import Foundation
internal import GrandstandContract

extension GrandstandClient {
    /// When a request is repeated: after network faults, 5xx and 429. The wait is random up to a limit that grows
    /// ("full jitter"). It is never shorter than `Retry-After`, and never goes past the deadline.
    public struct RetryPolicy: Sendable, Hashable {
        /// The most attempts, including the first.
        public var attempts: Int
        /// The upper limit of the first wait, in seconds. It doubles for each further wait.
        public var firstWait: TimeInterval
        /// The upper limit of every wait, in seconds. `Retry-After` is added to the wait and is not limited by this.
        public var longestWait: TimeInterval
        /// Seconds after which the call fails, including all waits.
        public var deadline: TimeInterval

        /// A policy with these values.
        public init(
            attempts: Int = 6, firstWait: TimeInterval = 0.5, longestWait: TimeInterval = 20,
            deadline: TimeInterval = 60
        ) {
            self.attempts = attempts
            self.firstWait = firstWait
            self.longestWait = longestWait
            self.deadline = deadline
        }

        /// Six attempts within a minute.
        public static let standard = RetryPolicy()
        /// One attempt only.
        public static let never = RetryPolicy(attempts: 1)

        /// The policy if there is a stored answer: a caller waits at most four seconds for a server that does not
        /// answer.
        var impatient: RetryPolicy {
            RetryPolicy(attempts: min(2, attempts), firstWait: 0.2, deadline: min(4, deadline))
        }

        /// The least seconds for an attempt. If less time is left, no attempt begins.
        static let shortestTry: TimeInterval = 1

        /// The result of an attempt.
        package enum Outcome: Sendable {
            /// No answer. It is unknown whether the server processed the request.
            case fault(any Error)
            case answer(status: Int, kind: Contract.ProblemKind?, retryAfter: Int?)
        }

        /// How many seconds to wait before the next attempt.
        ///
        /// - Parameters:
        ///   - made: the number of attempts so far.
        ///   - elapsed: seconds since the call began.
        ///   - chance: a random number from 0 to 1.
        /// - Returns: `nil` if there is no further attempt.
        package func wait(after outcome: Outcome, made: Int, elapsed: TimeInterval, chance: Double) -> TimeInterval? {
            guard made < attempts, Self.isTemporary(outcome) else { return nil }
            var wait = min(longestWait, firstWait * Double(1 << min(made - 1, 20))) * chance
            if case .answer(_, _, let seconds?) = outcome { wait += Double(seconds) }
            return elapsed + wait + Self.shortestTry <= deadline ? wait : nil
        }

        /// Whether the same request may succeed later. If APNs refused or did not answer, a repetition does not help,
        /// although the status is 5xx.
        private static func isTemporary(_ outcome: Outcome) -> Bool {
            switch outcome {
            case .answer(_, .apnsRefused, _), .answer(_, .apnsUnanswered, _): false
            // The first copy of this request is still in progress.
            case .answer(_, .idempotencyInProgress, _): true
            case .answer(let status, _, _): status == 429 || (500...599).contains(status) && status != 501
            case .fault(let error): (error as? URLError).map { !lasting.contains($0.code) } ?? false
            }
        }

        /// Faults that somebody has to repair.
        private static let lasting: Set<URLError.Code> = [
            .badURL, .unsupportedURL, .cancelled, .userAuthenticationRequired, .serverCertificateUntrusted,
            .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
            .clientCertificateRejected, .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection,
        ]
    }
}

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
            request.timeout = max(RetryPolicy.shortestTry, min(request.timeout, left))
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
            guard let wait = policy.wait(after: outcome, made: made, elapsed: elapsed, chance: time.random()) else {
                return try result.get()
            }
            try await time.sleep(wait)
        }
    }
}

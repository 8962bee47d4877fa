public import Foundation
internal import GrandstandContract

extension GrandstandClient {
    /// When a request is made again: after network faults, 5xx and 429, with a random wait that grows ("full jitter"),
    /// never before `Retry-After`, and never past the deadline.
    public struct RetryPolicy: Sendable, Hashable {
        /// Requests at most, the first included.
        public var attempts: Int
        /// The first wait is up to this many seconds; each further one up to twice the one before.
        public var firstWait: TimeInterval
        /// No wait without `Retry-After` is longer, in seconds.
        public var longestWait: TimeInterval
        /// Seconds from the call until it fails, all waits included.
        public var deadline: TimeInterval

        /// A policy of these.
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
        /// One attempt.
        public static let never = RetryPolicy(attempts: 1)

        /// With an answer at hand nobody waits longer than four seconds for a server that does not answer.
        var impatient: RetryPolicy {
            RetryPolicy(attempts: min(2, attempts), firstWait: 0.2, deadline: min(4, deadline))
        }

        /// What an attempt has at least; with less left none is begun.
        static let shortest: TimeInterval = 1

        /// What became of an attempt.
        package enum Outcome: Sendable {
            /// No answer; whether the request was carried out is not known.
            case fault(any Error)
            case answer(status: Int, kind: Contract.ProblemKind?, retryAfter: Int?)
        }

        /// How many seconds to wait before the next attempt.
        ///
        /// - Parameters:
        ///   - made: attempts so far.
        ///   - elapsed: since the call began.
        ///   - chance: from 0 to 1.
        /// - Returns: `nil` when there is to be none.
        package func wait(after outcome: Outcome, made: Int, elapsed: TimeInterval, chance: Double) -> TimeInterval? {
            guard made < attempts, Self.mayPass(outcome) else { return nil }
            var wait = ceiling(made) * chance
            if case .answer(_, _, let seconds?) = outcome { wait += Double(seconds) }
            return elapsed + wait + Self.shortest <= deadline ? wait : nil
        }

        /// The longest wait after so many attempts.
        package func ceiling(_ made: Int) -> TimeInterval {
            min(longestWait, firstWait * Double(1 << min(made - 1, 20)))
        }

        /// Whether the same request may succeed later. What APNs said is an answer, although its
        /// status is 5xx: asked again, the server would ask them again.
        private static func mayPass(_ outcome: Outcome) -> Bool {
            switch outcome {
            case .answer(_, .apnsRefused, _), .answer(_, .apnsUnanswered, _): false
            // The first copy of this request is still being carried out.
            case .answer(_, .idempotencyInProgress, _): true
            case .answer(let status, _, _): status == 429 || (500...599).contains(status) && status != 501
            case .fault(let error): mayPass(error)
            }
        }

        /// Whether a network fault may be over later.
        static func mayPass(_ error: any Error) -> Bool {
            (error as? URLError).map { !lasting.contains($0.code) } ?? false
        }

        /// Faults that stand until somebody mends something.
        private static let lasting: Set<URLError.Code> = [
            .badURL, .unsupportedURL, .cancelled, .userAuthenticationRequired, .serverCertificateUntrusted,
            .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
            .clientCertificateRejected, .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection,
        ]
    }
}

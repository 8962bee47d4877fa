internal import Grandstand
internal import Synchronization

/// The rate limit of one request's key. `RequestAuthenticator` sets it, and `ProblemMiddleware` writes it to the
/// headers.
final class RateBox: Sendable {
    private let value = Mutex<RateLimit.Standing?>(nil)

    var standing: RateLimit.Standing? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

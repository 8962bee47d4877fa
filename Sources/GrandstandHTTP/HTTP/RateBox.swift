internal import Grandstand
internal import Synchronization

/// The rate limit of one request's key. The gate sets it, and the outer middleware writes it to the headers.
final class RateBox: Sendable {
    private let value = Mutex<RateLimit.Standing?>(nil)

    var standing: RateLimit.Standing? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

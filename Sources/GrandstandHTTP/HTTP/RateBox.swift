internal import Grandstand
internal import Synchronization

/// How the key of one request stands to its limit: found by the gate, told by the middleware around it.
final class RateBox: Sendable {
    private let value = Mutex<RateLimit.Standing?>(nil)

    var standing: RateLimit.Standing? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

internal import NIOConcurrencyHelpers

/// What a caller holds of its request: enough to cancel it. Read and written on the connection's event loop only; the
/// lock is there to let it travel.
struct CallTicket: Sendable {
    enum Place: Equatable {
        /// Not seen by the loop yet.
        case submitted
        /// Cancelled before it was seen.
        case withdrawn
        case held(slot: Int)
        /// Answered, one way or the other; its slot may be another's by now.
        case done
    }

    private let box = NIOLockedValueBox(Place.submitted)

    var place: Place {
        get { box.withLockedValue { $0 } }
        nonmutating set { box.withLockedValue { $0 = newValue } }
    }
}

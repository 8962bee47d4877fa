/// The life of one connection object, from the first byte to the last; it never starts anew.
///
///     connecting ──secured──▶ awaitingSettings ──settingsArrived──▶ open ──leave──▶ draining
///          └──────────────────────────┴──────────── close ───────────┴───────────────┴──▶ closed
struct ConnectionLife {
    enum State: Equatable {
        /// TCP and TLS.
        case connecting
        /// TLS and `h2` are agreed on; the peer's SETTINGS are to come (RFC 9113 3.4).
        case awaitingSettings
        case open
        /// No new requests; those in flight may finish.
        case draining(reason: String)
        case closed(reason: String)
    }

    private(set) var state = State.connecting

    /// Requests may start.
    var isOpen: Bool { state == .open }

    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Why no request may start; `nil` while one may.
    var refusal: String? {
        switch state {
        case .open: nil
        case .connecting, .awaitingSettings: "the connection is not ready yet"
        case .draining(let reason): "the connection is draining: \(reason)"
        case .closed(let reason): "the connection is closed: \(reason)"
        }
    }

    mutating func secured() {
        if state == .connecting { state = .awaitingSettings }
    }

    /// True for the SETTINGS that open the connection, false for every later one.
    mutating func settingsArrived() -> Bool {
        guard state == .awaitingSettings else { return false }
        state = .open
        return true
    }

    /// No new requests from now on. True the first time; a later reason does not replace the first.
    mutating func leave(_ reason: String) -> Bool {
        switch state {
        case .connecting, .awaitingSettings, .open:
            state = .draining(reason: reason)
            return true
        case .draining, .closed:
            return false
        }
    }

    /// The end. True the first time. A connection that was draining says both reasons.
    mutating func close(_ reason: String) -> Bool {
        switch state {
        case .connecting, .awaitingSettings, .open: state = .closed(reason: reason)
        case .draining(let first): state = .closed(reason: first == reason ? first : "\(first); \(reason)")
        case .closed: return false
        }
        return true
    }

    /// The reason of the end, once there is one.
    var closeReason: String? {
        if case .closed(let reason) = state { reason } else { nil }
    }
}

/// The states of one connection, from the first byte to the last. It is never restarted.
///
///     connecting ──secured──▶ awaitingSettings ──settingsArrived──▶ open ──leave──▶ draining
///          └──────────────────────────┴──────────── close ───────────┴───────────────┴──▶ closed
struct ConnectionLife {
    enum State: Equatable {
        /// TCP and TLS are being set up.
        case connecting
        /// TLS and `h2` are negotiated; the peer's SETTINGS are awaited (RFC 9113 3.4).
        case awaitingSettings
        case open
        /// No new requests are accepted; those in flight may finish.
        case draining(reason: String)
        case closed(reason: String)
    }

    private(set) var state = State.connecting

    /// Whether requests may start.
    var isOpen: Bool { state == .open }

    var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Why no request may start; `nil`: requests may start.
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

    /// Returns `true` for the SETTINGS that open the connection, and `false` for later ones.
    mutating func settingsArrived() -> Bool {
        guard state == .awaitingSettings else { return false }
        state = .open
        return true
    }

    /// Accepts no new requests from now on. Returns `true` the first time; a later reason does not replace the first.
    mutating func leave(_ reason: String) -> Bool {
        switch state {
        case .connecting, .awaitingSettings, .open:
            state = .draining(reason: reason)
            return true
        case .draining, .closed:
            return false
        }
    }

    /// Ends the connection. Returns `true` the first time. A connection that was draining reports both reasons.
    mutating func close(_ reason: String) -> Bool {
        switch state {
        case .connecting, .awaitingSettings, .open: state = .closed(reason: reason)
        case .draining(let first): state = .closed(reason: first == reason ? first : "\(first); \(reason)")
        case .closed: return false
        }
        return true
    }

    /// Why it ended; `nil`: it has not ended.
    var closeReason: String? {
        if case .closed(let reason) = state { reason } else { nil }
    }
}

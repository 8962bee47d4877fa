internal import APNsWire
internal import HTTP2

/// The effect of a fault on a request that matches, or on a connection.
enum FaultAction: Sendable, Hashable {
    /// The names of files and control API.
    enum Name: String, Sendable, CaseIterable {
        case refuse, delay, silence, lose, reset, refuseStream, goAway, settings, cut, slowReads, reorder,
            capabilityOff, vanish, quota, tls
    }

    /// How an answer is lost after the request was processed.
    enum Loss: String, Sendable, CaseIterable {
        case silence, reset, cut
    }

    enum Departure: String, Sendable, CaseIterable {
        /// The request is answered, and with it all that came before; the connection takes no more.
        case clean
        /// The request was not processed, and GOAWAY says so: its stream lies above the last one.
        case mid
        /// Every connection of the environment leaves cleanly at once, as when servers are replaced.
        case rolling
    }

    enum TLSFailure: String, Sendable, CaseIterable {
        /// The connection ends within the handshake.
        case handshake
        /// The certificate is good, and for another name.
        case certificate
    }

    /// In place of APNs' own answer; nothing is processed.
    case refuse(reason: String, status: Int, retryAfter: Int?)
    /// Processed at once, answered after so many seconds.
    case delay(seconds: Double)
    /// Neither processed nor answered.
    case silence
    /// Processed, and never answered.
    case lose(Loss)
    /// Not processed; RST_STREAM with the code.
    case reset(code: UInt32)
    /// Not processed; RST_STREAM with REFUSED_STREAM: may be sent again at once.
    case refuseStream
    /// GOAWAY with `{"reason":…}`.
    case goAway(Departure, reason: String, code: UInt32)
    /// The request is processed; its connection may have so many streams from here on.
    case settings(maximumStreams: Int)
    /// Not processed; the connection ends below TLS.
    case cut
    /// The request is processed; its connection is not read from for so many seconds.
    case slowReads(seconds: Double)
    /// A broadcast is accepted, and reaches the devices after the next one of its channel.
    case reorder
    /// The app's Broadcast capability is turned off, its channels with it; then the request is processed.
    case capabilityOff
    /// All channels of the app in the request's environment are gone; then the request is processed.
    case vanish
    /// The app may have so many channels in the request's environment from here on; then the request is processed.
    case quota(Int)
    /// A connection fails in TLS.
    case tls(TLSFailure)

    var name: Name {
        switch self {
        case .refuse: .refuse
        case .delay: .delay
        case .silence: .silence
        case .lose: .lose
        case .reset: .reset
        case .refuseStream: .refuseStream
        case .goAway: .goAway
        case .settings: .settings
        case .cut: .cut
        case .slowReads: .slowReads
        case .reorder: .reorder
        case .capabilityOff: .capabilityOff
        case .vanish: .vanish
        case .quota: .quota
        case .tls: .tls
        }
    }

    /// The request reaches APNs' rules.
    var isProcessed: Bool {
        switch self {
        case .refuse, .silence, .reset, .refuseStream, .cut, .tls, .goAway(.mid, _, _): false
        case .delay, .lose, .goAway, .settings, .slowReads, .reorder, .capabilityOff, .vanish, .quota: true
        }
    }
}

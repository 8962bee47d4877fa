internal import APNsWire
internal import HTTP2

/// What a fault does to a matching request or connection.
enum FaultAction: Sendable, Hashable {
    /// The names in files and in the control API.
    enum Name: String, Sendable, CaseIterable {
        case refuse, delay, silence, lose, reset, refuseStream, goAway, settings, cut, slowReads, reorder,
            capabilityOff, vanish, quota, tls
    }

    /// How an answer is lost after the request was processed.
    enum Loss: String, Sendable, CaseIterable {
        case silence, reset, cut
    }

    enum GoAwayManner: String, Sendable, CaseIterable {
        /// The request and all earlier requests are answered; the connection accepts no more requests.
        case clean
        /// The request is not processed, and GOAWAY says so: its last stream ID is lower than the request's stream ID.
        case mid
        /// Every connection of the environment is closed cleanly at once, as when servers are replaced.
        case rolling
    }

    enum TLSFailure: String, Sendable, CaseIterable {
        /// The connection ends during the handshake.
        case handshake
        /// The certificate is valid, but for another name.
        case certificate
    }

    /// The client gets this refusal instead of APNs' own answer. The request is not processed.
    case refuse(reason: String, status: Int, retryAfter: Int?)
    /// The request is processed at once, but answered after this many seconds; `nil`: when the fault is removed.
    case delay(seconds: Double?)
    /// The request is neither processed nor answered.
    case silence
    /// The request is processed, but never answered.
    case lose(Loss)
    /// The request is not processed. The client gets RST_STREAM with the code.
    case reset(code: UInt32)
    /// The request is not processed. The client gets RST_STREAM with REFUSED_STREAM, so it may repeat the request at
    /// once.
    case refuseStream
    /// The client gets GOAWAY with `{"reason":…}`.
    case goAway(GoAwayManner, reason: String, code: UInt32)
    /// The request is processed. From now on its connection may have this many streams.
    case settings(maximumStreams: Int)
    /// The request is not processed. The TCP connection ends.
    case cut
    /// The request is processed. Then nothing is read from its connection for this many seconds.
    case slowReads(seconds: Double)
    /// A broadcast is accepted, but reaches the devices only after the next broadcast on the same channel.
    case reorder
    /// The app's Broadcast capability is turned off, which deletes its channels. Then the request is processed.
    case capabilityOff
    /// All channels of the app in the request's environment disappear. Then the request is processed.
    case vanish
    /// From now on the app may have this many channels in the request's environment. Then the request is processed.
    case quota(Int)
    /// A connection fails during TLS.
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

    /// Whether the simulator still processes the request as APNs would.
    var isProcessed: Bool {
        switch self {
        case .refuse, .silence, .reset, .refuseStream, .cut, .tls, .goAway(.mid, _, _): false
        case .delay, .lose, .goAway, .settings, .slowReads, .reorder, .capabilityOff, .vanish, .quota: true
        }
    }
}

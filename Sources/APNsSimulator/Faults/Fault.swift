internal import APNsWire
internal import HTTP2
internal import JSON

/// A rule: an action, the requests that the action applies to, and how often it applies. This is also its JSON in files
/// and in the control API (docs/simulator.md).
struct Fault: Sendable, Hashable, Codable {
    /// What a fault does to a matching request or connection.
    enum Action: String, ControlWord {
        /// The client gets this refusal instead of APNs' own answer. The request is not processed.
        case refuse
        /// The request is processed at once, but answered after some seconds; without `seconds`, when the fault is
        /// removed.
        case delay
        /// The request is neither processed nor answered.
        case silence
        /// The request is processed, but never answered.
        case lose
        /// The request is not processed. The client gets RST_STREAM with the code.
        case reset
        /// The request is not processed. The client gets RST_STREAM with REFUSED_STREAM, so it may repeat the request
        /// at once.
        case refuseStream
        /// The client gets GOAWAY with `{"reason":…}`.
        case goAway
        /// The request is processed. From now on its connection may have this many streams.
        case settings
        /// The request is not processed. The TCP connection ends.
        case cut
        /// The request is processed. Then nothing is read from its connection for some seconds.
        case slowReads
        /// A broadcast is accepted, but reaches the devices only after the next broadcast on the same channel.
        case reorder
        /// The app's Broadcast capability is turned off, which deletes its channels. Then the request is processed.
        case capabilityOff
        /// All channels of the app in the request's environment disappear. Then the request is processed.
        case vanish
        /// From now on the app may have this many channels in the request's environment. Then the request is processed.
        case quota
        /// A connection fails during TLS.
        case tls

        /// The members of a fault with this action, in addition to those of every fault.
        fileprivate var members: [CodingKeys] {
            switch self {
            case .refuse: [.reason, .status, .retryAfter]
            case .delay, .slowReads: [.seconds]
            case .lose: [.by]
            case .reset: [.code]
            case .goAway: [.manner, .reason, .code]
            case .settings: [.maximumStreams]
            case .quota: [.channels]
            case .tls: [.failure]
            case .silence, .refuseStream, .cut, .reorder, .capabilityOff, .vanish: []
            }
        }
    }

    /// How an answer is lost after the request was processed.
    enum Loss: String, ControlWord {
        case silence, reset, cut
    }

    enum GoAwayManner: String, ControlWord {
        /// The request and all earlier requests are answered; the connection accepts no more requests.
        case clean
        /// The request is not processed, and GOAWAY says so: its last stream ID is lower than the request's stream ID.
        case mid
        /// Every connection of the environment is closed cleanly at once, as when servers are replaced.
        case rolling
    }

    enum TLSFailure: String, ControlWord {
        /// The connection ends during the handshake.
        case handshake
        /// The certificate is valid, but for another name.
        case certificate
    }

    /// A name for people and the journal; unique among the faults of a simulator.
    var name = ""
    private(set) var match = FaultMatch()
    let action: Action
    // The members of some actions. Those that have a default are never `nil` with their action.
    private(set) var manner: GoAwayManner?
    private(set) var reason: String?
    private(set) var status: Int?
    private(set) var retryAfter: Int?
    private(set) var seconds: Double?
    private(set) var by: Loss?
    private(set) var code: HTTP2Code?
    private(set) var maximumStreams: Int?
    private(set) var channels: Int?
    private(set) var failure: TLSFailure?
    /// The most requests that the fault acts on; `nil`: no limit.
    private(set) var times: Int?
    /// The number of requests so far that matched, without regard to `nth`, `every`, `rate` and `times`.
    private(set) var seen = 0
    /// The number of requests that the fault acted on.
    private(set) var acted = 0

    fileprivate enum CodingKeys: String, CodingKey {
        case name, match, action, manner, reason, status, retryAfter, seconds, by, code, maximumStreams, channels,
            failure, times, seen, acted
    }

    init(from decoder: any Decoder) throws {
        let from = try decoder.container(keyedBy: CodingKeys.self)
        action = try from.decode(Action.self, forKey: .action)
        let known = [.name, .match, .action, .times] + action.members
        if let other = from.allKeys.first(where: { !known.contains($0) }) {
            throw DecodingError.fault("\(other.rawValue.quotedJSON) is unknown to \(action.rawValue)")
        }
        name = try from.decodeIfPresent(String.self, forKey: .name) ?? ""
        match = try from.decodeIfPresent(FaultMatch.self, forKey: .match) ?? FaultMatch()
        manner = try from.decodeIfPresent(GoAwayManner.self, forKey: .manner)
        reason = try from.decodeIfPresent(String.self, forKey: .reason)
        status = try from.number(.status, in: 200...599)
        retryAfter = try from.number(.retryAfter, in: 0...86_400)
        // An hour is longer than any client waits.
        seconds = try from.number(.seconds, in: 0...3_600)
        by = try from.decodeIfPresent(Loss.self, forKey: .by)
        code = try from.decodeIfPresent(HTTP2Code.self, forKey: .code)
        maximumStreams = try from.number(.maximumStreams, in: 0...Int(UInt32.max))
        channels = try from.number(.channels, in: 0...Int.max)
        failure = try from.decodeIfPresent(TLSFailure.self, forKey: .failure)
        times = try from.number(.times, in: 1...Int.max)
        try addDefaults(from)
        if action == .tls, match.isAboutRequests {
            throw from.error(.match, "tls has only environment, nth, every and rate")
        }
    }

    private mutating func addDefaults(_ from: KeyedDecodingContainer<CodingKeys>) throws {
        switch action {
        case .refuse:
            guard let reason else { throw from.error(.reason, "missing") }
            status = status ?? APNsReason(rawValue: reason).status
            if status != nil { break }
            throw from.error(
                .status,
                "missing, and Apple does not document the reason \"\(reason)\": write the HTTP status to answer with")
        case .lose: by = by ?? .silence
        case .reset: code = code ?? HTTP2Code(.internalError)
        case .goAway:
            manner = manner ?? .clean
            reason = reason ?? "Shutdown"
            code = code ?? HTTP2Code(.noError)
        case .settings where maximumStreams == nil: throw from.error(.maximumStreams, "missing")
        case .slowReads where seconds == nil: throw from.error(.seconds, "missing")
        case .quota where channels == nil: throw from.error(.channels, "missing")
        case .tls: failure = failure ?? .handshake
        default: break
        }
    }

    /// What became of a request on which the fault acts. The simulator processes it as APNs would, unless it is
    /// `unprocessed` or refused by the fault.
    var fate: JournalEntry.Fate {
        switch action {
        case .delay: .held
        case .lose: .dropped
        case .silence, .reset, .refuseStream, .cut, .tls: .unprocessed
        case .goAway: manner == .mid ? .unprocessed : .answered
        case .refuse, .settings, .slowReads, .reorder, .capabilityOff, .vanish, .quota: .answered
        }
    }

    /// Counts a request that matches, and returns whether the fault acts on it.
    mutating func trigger(using random: inout SeededRandom) -> Bool {
        seen += 1
        if let times, acted >= times { return false }
        if let nth = match.nth, seen != nth { return false }
        if let every = match.every, !seen.isMultiple(of: every) { return false }
        // Draw a number for every request that comes this far, so that a run depends only on its seed and its requests.
        if let rate = match.rate, random.nextDouble() >= rate { return false }
        acted += 1
        return true
    }
}

/// An error code by its name in RFC 9113 section 7, or as a number.
struct HTTP2Code: Sendable, Hashable, Codable {
    let number: UInt32

    init(_ code: HTTP2ErrorCode) { number = code.rawValue }

    init(from decoder: any Decoder) throws {
        let value = try JSONValue(from: decoder)
        let code = HTTP2ErrorCode.allCases.first { HTTP2ErrorCode.name($0.rawValue) == value.string }
        guard let number = value.integer.flatMap(UInt32.init(exactly:)) ?? code?.rawValue else {
            throw DecodingError.fault(
                "\(String(decoding: value.source, as: UTF8.self)) is not an error code of RFC 9113 section 7")
        }
        self.number = number
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(HTTP2ErrorCode.name(number))
    }
}

extension SeededRandom {
    /// A random number from 0 up to, but not including, 1.
    mutating func nextDouble() -> Double { Double(next() >> 11) * 0x1p-53 }
}

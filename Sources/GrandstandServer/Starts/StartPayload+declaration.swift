internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The newest content that was accepted for an audience, with the other fields of its message that a start takes over.
struct NewestContent: Sendable, Hashable {
    var broadcast: UUID
    /// JSON object text.
    var contentState: [UInt8]
    /// Seconds since 1970.
    var staleDate: Int?
    /// JSON number text.
    var relevanceScore: [UInt8]?
}

extension StartPayload {
    /// The declared push with the content of a message. The message already has the event's defaults.
    ///
    /// - Parameters:
    ///   - contentState: JSON object text.
    ///   - staleDate: the message's stale date, seconds since 1970; `nil`: the declared one.
    ///   - relevanceScore: the message's relevance score, JSON number text.
    init(
        _ declaration: Contract.Start, contentState: [UInt8], staleDate: Int? = nil, relevanceScore: [UInt8]? = nil
    ) {
        self.init(
            attributesType: declaration.attributesType, attributes: Array(declaration.attributes.bytes),
            contentState: contentState, alert: Array(declaration.alert.bytes),
            staleDate: staleDate ?? declaration.staleDate.map { Int($0.timeIntervalSince1970.rounded(.down)) },
            relevanceScore: relevanceScore)
    }

    /// The declared push with the newest accepted content, so that no activity begins with an old score. The declared
    /// content, with the event's defaults, is used until a content is accepted.
    ///
    /// - Parameters:
    ///   - newest: the newest content of the audience that gets the push; `nil`: no content was accepted yet.
    ///   - time: when the push is sent.
    ///   - end: the stale date if nothing else gives one; `nil`: there is none then.
    /// - Returns: `nil`: there is no content yet.
    init?(
        _ declaration: Contract.Start, newest: NewestContent? = nil, filledBy defaults: Contract.EventDefaults,
        at time: Date,
        until end: Date? = nil
    ) {
        if let newest {
            self.init(
                declaration, contentState: newest.contentState, staleDate: newest.staleDate,
                relevanceScore: newest.relevanceScore)
        } else {
            guard let contentState = declaration.contentState else { return nil }
            self.init(
                declaration, contentState: Array(contentState.bytes),
                relevanceScore: defaults.relevanceScore.map { Array($0.bytes) })
            staleDate = staleDate ?? defaults.staleDate(at: time)
        }
        staleDate = staleDate ?? end.map { Int($0.timeIntervalSince1970.rounded(.down)) }
    }

    /// Whether APNs accepts the push with the longest of its possible alerts.
    func fits(_ alerts: some Sequence<[UInt8]>, timestamp: Int, input: Input) -> Bool {
        size(alerts, timestamp: timestamp, input: input) <= APNsLimits.devicePayload
    }

    /// Bytes of the body with the longest of the alerts.
    func size(_ alerts: some Sequence<[UInt8]>, timestamp: Int, input: Input) -> Int {
        let longest = alerts.map(\.count).max() ?? 0
        return body(timestamp: timestamp, input: input).count + max(0, longest - alert.count)
    }
}

extension Contract.Start {
    /// The alerts by language tag, as JSON object text.
    var localAlerts: [String: [UInt8]] { (alertsByLocale ?? [:]).mapValues { Array($0.bytes) } }

    /// Refuses a start whose push would be too large for APNs, with the declared content or, if there is none, with an
    /// empty content.
    ///
    /// - Throws: `payload-too-large`.
    func requireFit(with defaults: Contract.EventDefaults) throws(Problem) {
        let late = Date(timeIntervalSince1970: 4_000_000_000)
        let payload =
            StartPayload(self, filledBy: defaults, at: late, until: late)
            ?? StartPayload(self, contentState: Array("{}".utf8), staleDate: 4_000_000_000)
        // Apple's IDs of channels are the base64 text of 16 bytes; timestamps have ten digits until 2286.
        let size = payload.size(
            localAlerts.values, timestamp: 4_000_000_000,
            input: .channel(String(repeating: "A", count: 24)))
        guard size > APNsLimits.devicePayload else { return }
        let excess = size - APNsLimits.devicePayload
        throw Problem(
            .payloadTooLarge,
            "The push that starts the activity would have \(size) bytes; Apple takes \(APNsLimits.devicePayload). "
                + "Shorten attributes, contentState or the longest alert of start by \(excess) bytes.",
            errors: [FieldError(pointer: "/start", detail: "It is \(excess) bytes too long.")],
            members: [.size(size), .limit(APNsLimits.devicePayload)])
    }
}

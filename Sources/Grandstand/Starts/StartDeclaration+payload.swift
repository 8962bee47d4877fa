internal import APNsWire
package import FoundationEssentials

extension StartPayload {
    /// The declared push with the content of a message, which has its event's defaults.
    ///
    /// - Parameters:
    ///   - contentState: JSON object text.
    ///   - staleDate: the content's own, seconds since 1970; `nil`: the declared one.
    ///   - relevanceScore: the content's own, JSON number text.
    package init(
        _ declaration: StartDeclaration, contentState: [UInt8], staleDate: Int? = nil, relevanceScore: [UInt8]? = nil
    ) {
        self.init(
            attributesType: declaration.attributesType, attributes: declaration.attributes,
            contentState: contentState, alert: declaration.alert,
            staleDate: staleDate ?? declaration.staleDate.map { Int($0.timeIntervalSince1970.rounded(.down)) },
            relevanceScore: relevanceScore)
    }

    /// The declared push with the declared content, and what its event's messages have that say nothing themselves; `nil`:
    /// no content is declared.
    ///
    /// - Parameter time: when it is sent.
    package init?(_ declaration: StartDeclaration, filledBy defaults: EventDefaults, at time: Date) {
        guard let contentState = declaration.contentState else { return nil }
        self.init(declaration, contentState: contentState, relevanceScore: defaults.relevanceScore)
        staleDate = staleDate ?? defaults.staleDate(at: time)
    }

    /// Whether APNs takes the push with the longest of the alerts it may have.
    package func fits(_ alerts: some Sequence<[UInt8]>, timestamp: Int, input: Input) -> Bool {
        size(alerts, timestamp: timestamp, input: input) <= APNsLimits.devicePayload
    }

    /// Bytes of the body with the longest of the alerts.
    package func size(_ alerts: some Sequence<[UInt8]>, timestamp: Int, input: Input) -> Int {
        let longest = alerts.map(\.count).max() ?? 0
        return body(timestamp: timestamp, input: input).count + max(0, longest - alert.count)
    }
}

extension StartDeclaration {
    /// Refuses a start whose push APNs would not take: with the declared content, or before any is known.
    ///
    /// - Throws: `payload-too-large`.
    package func requireFit(with defaults: EventDefaults) throws(Problem) {
        let payload =
            StartPayload(self, filledBy: defaults, at: Date(timeIntervalSince1970: 4_000_000_000))
            ?? StartPayload(self, contentState: Array("{}".utf8))
        // Apple's IDs of channels are the base64 text of 16 bytes; timestamps have ten digits until 2286.
        let size = payload.size(
            alertsByLocale.values, timestamp: 4_000_000_000,
            input: .channel(String(repeating: "A", count: 24)))
        guard size > APNsLimits.devicePayload else { return }
        let excess = size - APNsLimits.devicePayload
        throw Problem(
            .payloadTooLarge,
            "The push that starts the activity would have \(size) bytes; Apple takes \(APNsLimits.devicePayload). "
                + "Shorten attributes, contentState or the longest alert of start by \(excess) bytes.",
            errors: [FieldError(pointer: "/start", detail: "It is \(excess) bytes too long.")],
            members: [("size", .integer(size)), ("limit", .integer(APNsLimits.devicePayload))])
    }
}

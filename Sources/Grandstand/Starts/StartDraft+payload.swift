internal import APNsWire
package import FoundationEssentials
package import GrandstandContract
internal import JSON

/// The newest content that was accepted for an audience, with the other fields of its message that a start takes over.
struct NewestContent: Decodable, Sendable, Hashable {
    var broadcast: UUID
    var contentState: RawJSON
    /// Seconds since 1970.
    var staleDate: Int?
    var relevanceScore: RawJSON?
}

extension Contract.StartDraft {
    /// The declared push with the newest accepted content, so that no activity begins with an old score. The declared
    /// content, with the event's defaults, is used until a content is accepted. `attributes`, the content and the alert
    /// go into the push byte for byte as the caller wrote them.
    ///
    /// - Parameters:
    ///   - newest: the newest content of the audience that gets the push; `nil`: no content was accepted yet. The
    ///     message already has the event's defaults.
    ///   - time: when the push is sent.
    ///   - end: the stale date if nothing else gives one; `nil`: there is none then.
    /// - Returns: `nil`: there is no content yet.
    func payload(
        newest: NewestContent? = nil, filledBy defaults: Contract.EventDefaults, at time: Date, until end: Date? = nil
    ) -> BroadcastPayload? {
        guard let content = newest?.contentState ?? contentState else { return nil }
        let standard = newest == nil ? defaults.staleAfter.map { time.epoch + $0 } : nil
        let ends = [staleDate?.epoch, standard, end?.epoch]
        return BroadcastPayload(
            event: .start, contentState: content.utf8, alert: alert.utf8,
            staleDate: newest?.staleDate ?? ends.lazy.compactMap(\.self).first,
            relevanceScore: (newest == nil ? defaults.relevanceScore : newest?.relevanceScore)?.utf8,
            start: .init(attributesType: Array(attributesType.quotedJSON.utf8), attributes: attributes.utf8))
    }

    /// The alerts by language tag, as JSON object text.
    var localeAlerts: [String: [UInt8]] { (alertsByLocale ?? [:]).mapValues(\.utf8) }

    /// Refuses a start whose push would be too large for APNs, with the declared content or, if there is none, with an
    /// empty content.
    ///
    /// - Throws: `payload-too-large`.
    package func requireFit(with defaults: Contract.EventDefaults) throws(Problem) {
        // Timestamps have ten digits until 2286.
        let late = Date(timeIntervalSince1970: 4_000_000_000)
        let empty = NewestContent(broadcast: UUID(), contentState: RawJSON(unchecked: "{}".utf8))
        guard
            var payload = payload(
                newest: contentState == nil ? empty : nil, filledBy: defaults, at: late, until: late)
        else { return }
        // Apple's IDs of channels are the base64 text of 16 bytes.
        payload.listen(to: String(repeating: "A", count: 24))
        let size = payload.size(localeAlerts.values, timestamp: late.epoch)
        guard size > APNsLimits.devicePayload else { return }
        let excess = size - APNsLimits.devicePayload
        throw Problem(
            .payloadTooLarge,
            "The push that starts the activity would have \(size) bytes; Apple takes \(APNsLimits.devicePayload). "
                + "Shorten attributes, contentState or the longest alert of start by \(excess) bytes.",
            errors: [FieldError(pointer: "/start", detail: "It is \(excess) bytes too long.")]
        ) { ($0.size, $0.limit) = (size, APNsLimits.devicePayload) }
    }
}

extension BroadcastPayload {
    /// Lets the activity listen to this channel. `nil`: the activity gets its own token.
    mutating func listen(to channelID: String?) {
        start?.input = channelID.map { .channel(Array($0.quotedJSON.utf8)) } ?? .token
    }

    /// Bytes of the body with the longest of the alerts.
    func size(_ alerts: some Sequence<[UInt8]>, timestamp: Int) -> Int {
        let longest = alerts.map(\.count).max() ?? 0
        return body(timestamp: timestamp).count + max(0, longest - (alert?.count ?? 0))
    }
}

extension Contract.StartDraft {
    /// Checks the start of an event's body. Members that were left out get their values, where answers show one.
    ///
    /// - Parameters:
    ///   - startsAt: the event's start time.
    ///   - audiences: the event's audiences.
    package mutating func check(startsAt: Date?, audiences ids: [Audience.ID], _ faults: inout RequestFaults) {
        let advice = "APNs starts an activity only with an alert that has a text."
        faults.requireText(of: alert, at: "/start/alert", advice)
        faults.requireTexts(of: alertsByLocale ?? [:], at: "/start/alertsByLocale", advice)
        if let from = at ?? startsAt {
            if let until, until <= from {
                faults.add("/start/until", "until is not after the time of the start, \(RFC3339.text(from)).")
            }
        } else {
            faults.add(
                "/start/at",
                "A start needs a time: give at in the start or startsAt in the event, or set start to null.")
        }
        for fault in audiences?.faults(among: ids, at: "/start/audiences") ?? [] {
            faults.add(fault.pointer, fault.detail)
        }
        audiences = audiences?.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        if alertsByLocale?.isEmpty == true { alertsByLocale = nil }
        staleDate = staleDate.map { Date(epoch: $0.epoch) }
        restart = restart ?? false
    }
}

/// The `aps` dictionary of a broadcast or a push, made from this server's values and the organiser's JSON.
///
/// `contentState` and `alert` are inserted byte for byte: numbers, escapes and the order of keys stay as written,
/// because the app's own types decode them.
package struct BroadcastPayload: Sendable, Hashable {
    /// The value of `event`. A broadcast cannot start an activity, but a push to a device can.
    package enum Event: String, Sendable, Hashable, CaseIterable {
        case start
        case update
        case end
    }

    /// The fields that only a `start` has (docs/internals/apns.md 3.2 and 4).
    package struct Start: Sendable, Hashable {
        /// Where the activity gets its updates from. The value is sent as `input-push-channel` or `input-push-token`, a
        /// key of `aps` like `attributes-type`. Both keys need iOS 18.
        package enum Input: Sendable, Hashable {
            /// `input-push-channel`: the activity listens to this channel, given as the text of a JSON string.
            case channel([UInt8])
            /// `input-push-token`: the activity gets its own token.
            case token
        }

        /// The text of a JSON string.
        package var attributesType: [UInt8]
        /// The text of a JSON object.
        package var attributes: [UInt8]
        /// `nil`: the payload has neither `input-push-channel` nor `input-push-token`, because older systems refuse
        /// them.
        package var input: Input?

        package init(attributesType: [UInt8], attributes: [UInt8], input: Input? = nil) {
            self.attributesType = attributesType
            self.attributes = attributes
            self.input = input
        }
    }

    package var event: Event
    /// Required by Apple for `start`.
    package var start: Start?
    /// The text of a JSON object. Apple requires it for `update` and `start`, and recommends it for `end`.
    package var contentState: [UInt8]?
    /// The text of a JSON object.
    package var alert: [UInt8]?
    /// Seconds since 1970.
    package var staleDate: Int?
    /// Seconds since 1970; only with `end`. A time in the past removes the activity at once.
    package var dismissalDate: Int?
    /// The text of a JSON number. The system compares it with the scores of other activities of the same app.
    package var relevanceScore: [UInt8]?

    package init(
        event: Event, contentState: [UInt8]? = nil, alert: [UInt8]? = nil, staleDate: Int? = nil,
        dismissalDate: Int? = nil, relevanceScore: [UInt8]? = nil, start: Start? = nil
    ) {
        self.event = event
        self.start = start
        self.contentState = contentState
        self.alert = alert
        self.staleDate = staleDate
        self.dismissalDate = dismissalDate
        self.relevanceScore = relevanceScore
    }

    /// The whole request body. A device orders updates by `timestamp` (seconds since 1970). The timestamp must rise
    /// from one message of a channel to the next, and stay the same when a message is repeated.
    package func body(timestamp: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            96 + (contentState?.count ?? 0) + (alert?.count ?? 0) + (start.map { 160 + $0.attributes.count } ?? 0))
        bytes += #"{"aps":{"timestamp":"#.utf8
        bytes += String(timestamp).utf8
        bytes += #","event":""#.utf8
        bytes += event.rawValue.utf8
        bytes += "\"".utf8
        append("attributes-type", start?.attributesType, to: &bytes)
        append("attributes", start?.attributes, to: &bytes)
        append("content-state", contentState, to: &bytes)
        append("alert", alert, to: &bytes)
        switch start?.input {
        case .channel(let channelID): append("input-push-channel", channelID, to: &bytes)
        case .token: append("input-push-token", Array("1".utf8), to: &bytes)
        case nil: break
        }
        append("stale-date", staleDate.map { Array(String($0).utf8) }, to: &bytes)
        append("dismissal-date", dismissalDate.map { Array(String($0).utf8) }, to: &bytes)
        append("relevance-score", relevanceScore, to: &bytes)
        bytes += "}}".utf8
        return bytes
    }

    private func append(_ key: String, _ value: [UInt8]?, to bytes: inout [UInt8]) {
        guard let value else { return }
        bytes += ",\"\(key)\":".utf8
        bytes += value
    }
}

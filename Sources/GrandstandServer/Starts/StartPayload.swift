internal import APNsWire
internal import Grandstand
internal import JSON

/// The `aps` dictionary of a push that starts a Live Activity (docs/internals/apns.md 3.2 and 4). `attributes`,
/// `contentState` and `alert` go into it byte for byte as the caller wrote them.
struct StartPayload: Sendable, Hashable {
    /// How updates reach the activity: one key next to `attributes-type`, from iOS 18 on.
    enum Input: Sendable, Hashable {
        /// `input-push-channel`: the activity listens to this channel.
        case channel(String)
        /// `input-push-token`: the activity gets its own token.
        case token
        /// Neither `input-push-channel` nor `input-push-token`, for iOS versions that start nothing from a push with
        /// one of these keys.
        case none
    }

    var attributesType: String
    /// JSON object text.
    var attributes: [UInt8]
    /// JSON object text.
    var contentState: [UInt8]
    /// JSON object text; Apple starts nothing without an alert.
    var alert: [UInt8]
    /// Seconds since 1970.
    var staleDate: Int?
    /// JSON number text.
    var relevanceScore: [UInt8]?

    /// The whole request body.
    ///
    /// - Parameter timestamp: seconds since 1970; updates of the activity need a higher timestamp.
    func body(timestamp: Int, input: Input) -> [UInt8] {
        let payload = BroadcastPayload(
            event: .start, contentState: contentState, alert: alert, staleDate: staleDate,
            relevanceScore: relevanceScore,
            start: .init(attributesType: Self.quoted(attributesType), attributes: attributes, input: Self.wire(input)))
        return payload.body(timestamp: timestamp)
    }

    private static func wire(_ input: Input) -> BroadcastPayload.Start.Input? {
        switch input {
        case .channel(let channelID): .channel(quoted(channelID))
        case .token: .token
        case .none: nil
        }
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(quoted: text)
        return bytes
    }
}

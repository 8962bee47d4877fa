internal import GrandstandContract

/// One Live Activity on a device, as its app reports it.
package struct DeviceActivity: Sendable, Hashable {
    package enum State: String, Sendable, Hashable, CaseIterable {
        case active
        case stale
        case ended
        case dismissed
    }

    /// ActivityKit's ID of the activity.
    package var id: String
    package var eventKey: EventKey
    package var attributesType: String
    package var state: State
    package var updateToken: DeviceToken?
    /// Apple's ID of the channel that the activity listens to.
    package var channelID: String?
    /// The variant that the activity shows. If the first report has `nil`, the server chooses the installation's
    /// variant.
    package var variant: Variant?

    package init(
        id: String, eventKey: EventKey, attributesType: String, state: State, updateToken: DeviceToken? = nil,
        channelID: String? = nil, variant: Variant? = nil
    ) {
        self.id = id
        self.eventKey = eventKey
        self.attributesType = attributesType
        self.state = state
        self.updateToken = updateToken
        self.channelID = channelID
        self.variant = variant
    }

    /// Whether openapi.yaml allows the text as an activity's ID.
    package static func isID(_ text: String) -> Bool { TextRule.activityId.accepts(text) }

    /// The rule for IDs as a sentence, for error messages.
    package static let idRule = TextRule.activityId.sentence

    /// The activity after this report. A token, channel or variant that the report leaves out stays as it is in
    /// `earlier`.
    package func reported(after earlier: DeviceActivity) -> DeviceActivity {
        var merged = self
        merged.updateToken = updateToken ?? earlier.updateToken
        merged.channelID = channelID ?? earlier.channelID
        merged.variant = variant ?? earlier.variant
        return merged
    }
}

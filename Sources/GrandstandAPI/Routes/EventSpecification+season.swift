internal import FoundationEssentials
internal import Grandstand

// What an event says of its channels' opening and of its messages.

extension EventSpecification {
    /// When channels open: a time, or so long before the beginning.
    static func opening(_ fields: inout JSONFields, startsAt: Date?) -> (at: Date?, before: Int?) {
        let at = fields.date("channelsOpenAt")
        let before = fields.integer("channelsOpenBefore", in: 0...maximumOpenBefore)
        if at != nil, before != nil {
            fields.fault(
                "channelsOpenBefore", "channelsOpenAt and channelsOpenBefore exclude each other; send one of them.")
        }
        if before != nil, startsAt == nil {
            fields.fault("channelsOpenBefore", "channelsOpenBefore counts from startsAt, which is not there.")
        }
        return (at, before)
    }

    /// What messages of it have that say nothing themselves.
    static func defaults(_ fields: inout JSONFields) -> EventDefaults {
        guard var nested = fields.fields("defaults") else { return EventDefaults() }
        let defaults = EventDefaults(&nested)
        fields.absorb(nested)
        return defaults
    }
}

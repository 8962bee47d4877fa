package import APNsWire

/// The subject of a lookup: an event, in an app and environment, in one of its variants.
package struct LookupName: Sendable, Hashable {
    /// The lowercased bundle ID.
    package let topic: String
    package let environment: APNsEnvironment
    package let key: EventKey
    /// `nil`: the audience without a variant, else the first that is not over.
    package let variant: Variant?

    package init(topic: String, environment: APNsEnvironment, key: EventKey, variant: Variant? = nil) {
        self.topic = topic
        self.environment = environment
        self.key = key
        self.variant = variant
    }
}

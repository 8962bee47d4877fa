package import APNsWire

/// What a lookup asks for: an event, in an app and environment.
package struct LookupName: Sendable, Hashable {
    /// The lowercased bundle ID.
    package let topic: String
    package let environment: APNsEnvironment
    package let key: EventKey

    package init(topic: String, environment: APNsEnvironment, key: EventKey) {
        self.topic = topic
        self.environment = environment
        self.key = key
    }
}

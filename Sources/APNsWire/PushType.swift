/// The only push type of channels, in Apple's two spellings (docs/internals/apns.md C7).
package enum PushType {
    /// The value of the `apns-push-type` header.
    package static let header = "liveactivity"
    /// The value of `push-type` in a channel's JSON.
    package static let json = "LiveActivity"
    /// The suffix of the bundle ID in the `apns-topic` of a device push for a Live Activity.
    package static let topicSuffix = ".push-type.liveactivity"
}

internal import APNsWire
internal import FoundationEssentials
package import JSON

/// The JSON form is here and not with the API's other views, because webhook messages use it, too.
extension Channel: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        writeIdentity(to: &object)
        object.member("state", state.rawValue)
        object.member("eventKey", eventKey?.rawValue)
        object.member("label", label)
        object.member("reason", reason)
        object.member("nextAttemptAt", nextAttemptAt)
        object.member("createdAt", createdAt)
        object.member("managed", true)
    }

    /// Writes the members that identify the channel. Webhook messages have them, too.
    func writeIdentity(to object: inout JSONWriter) {
        object.member("id", id)
        object.member("channelId", channelID)
        object.member("bundleId", bundleID.rawValue)
        object.member("environment", environment.rawValue)
        if let variant { object.member("variant", variant.rawValue) }
        object.member("storagePolicy", storagePolicy.rawValue)
    }
}

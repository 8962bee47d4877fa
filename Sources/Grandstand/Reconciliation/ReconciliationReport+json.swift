internal import APNsWire
internal import FoundationEssentials
package import JSON

/// The report's JSON form is here, not with the API's views, because the database keeps it as it was answered.
extension ReconciliationReport: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("id", id)
        object.member("bundleId", bundleID.rawValue)
        object.member("environment", environment.rawValue)
        object.member("actor", actor)
        object.member("startedAt", startedAt)
        object.member("finishedAt", finishedAt)
        object.member("applied", applied)
        object.member("apple", apple)
        object.member("ledger", ledger)
        object.member("matched", matched)
        object.objects("missing", missing) { channel, entry in
            channel.member("id", entry.id)
            channel.member("channelId", entry.channelID)
            channel.member("storagePolicy", entry.storagePolicy.rawValue)
            channel.member("eventKey", entry.eventKey?.rawValue)
            if let variant = entry.variant { channel.member("variant", variant.rawValue) }
        }
        object.member("unmanaged", unmanaged)
        object.member("actions", actions)
        object.member("alarm", alarm?.rawValue)
        object.member("notes", notes)
    }
}

extension UnmanagedChannel: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("channelId", channelID)
        object.member("firstSeenAt", firstSeenAt)
        if let storagePolicy { object.member("storagePolicy", storagePolicy.rawValue) }
    }
}

extension ReconciliationReport.Action: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("action", action.name)
        if let entry = action.entry {
            object.member("id", entry.id)
            object.member("eventKey", entry.eventKey?.rawValue)
            if let variant = entry.variant { object.member("variant", variant.rawValue) }
        }
        object.member("channelId", action.channelID)
        object.member("done", done)
        if let detail { object.member("detail", detail) }
    }
}

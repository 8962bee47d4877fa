internal import APNsWire
internal import ContentPreviews
internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// The answer to `POST /v1/events/{key}/broadcasts/preview`.
struct BroadcastRehearsalView: JSONObjectWritable {
    let rehearsal: BroadcastRehearsal
    /// Of the apps that have templates.
    let previews: [BundleID: ContentPreview]

    func write(members object: inout JSONWriter) {
        object.member("event", rehearsal.event.rawValue)
        object.member("goesAt", Optional(rehearsal.goesAt))
        object.member("isScheduled", rehearsal.isScheduled)
        object.member("expiresAt", Optional(rehearsal.expiresAt))
        object.array("audiences", rehearsal.parts) { writer, part in writer.object { write(part, to: &$0) } }
        object.member("warnings", rehearsal.warnings)
    }

    private func write(_ part: BroadcastRehearsal.Part, to object: inout JSONWriter) {
        object.member("bundleId", part.audience.bundleID.rawValue)
        object.member("environment", part.audience.environment.rawValue)
        if let variant = part.audience.variant { object.member("variant", variant.rawValue) }
        object.member("kind", part.kind.isCrowd ? "tokens" : "channel")
        let priority = part.kind == .channel ? part.priority : part.priority.ofDevicePush
        object.member("priority", priority.rawValue)
        object.member("apnsExpiration", part.apnsExpiration)
        object.member("bytes", part.bytes)
        object.member("limit", part.kind.bodyLimit)
        object.member("payload", raw: part.payload.body(timestamp: Int(rehearsal.goesAt.timeIntervalSince1970)))
        object.member("preview", previews[part.audience.bundleID]?.shown(part.payload.contentState))
        object.member("replaces", part.replaces.map { $0.uuidString.lowercased() })
    }
}

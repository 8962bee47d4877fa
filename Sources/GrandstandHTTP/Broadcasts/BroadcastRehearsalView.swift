internal import APNsWire
internal import ContentPreviews
internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// The answer to `POST /v1/events/{key}/broadcasts/preview`.
struct BroadcastRehearsalView: JSONObjectWritable {
    let rehearsal: BroadcastRehearsal
    /// The templates of the apps that have some.
    let previews: [BundleID: ContentPreview]

    func write(members object: inout JSONWriter) {
        object.member("event", rehearsal.event.rawValue)
        object.member("goesAt", Optional(rehearsal.goesAt))
        object.member("isScheduled", rehearsal.isScheduled)
        object.member("expiresAt", Optional(rehearsal.expiresAt))
        object.name("audiences")
        writeParts(to: &object)
        object.member("warnings", rehearsal.warnings)
    }

    /// Writes the messages of the audiences, as an array.
    func writeParts(to json: inout JSONWriter) {
        json.array(rehearsal.parts) { writer, part in writer.object { write(part, to: &$0) } }
    }

    /// The priority that is sent to APNs.
    func priority(of part: BroadcastRehearsal.Part) -> APNsPriority {
        part.kind == .channel ? part.priority : part.priority.ofDevicePush
    }

    /// The body that is sent to APNs.
    func body(of part: BroadcastRehearsal.Part) -> [UInt8] {
        part.payload.body(timestamp: Int(rehearsal.goesAt.timeIntervalSince1970))
    }

    /// The content as the app's templates show it; `nil`: the app has no template.
    func shown(_ part: BroadcastRehearsal.Part) -> ContentPreview.Shown? {
        previews[part.audience.bundleID]?.shown(part.payload.contentState)
    }

    private func write(_ part: BroadcastRehearsal.Part, to object: inout JSONWriter) {
        object.member("bundleId", part.audience.bundleID.rawValue)
        object.member("environment", part.audience.environment.rawValue)
        if let variant = part.audience.variant { object.member("variant", variant.rawValue) }
        object.member("kind", part.kind.isCrowd ? "tokens" : "channel")
        object.member("priority", priority(of: part).rawValue)
        object.member("apnsExpiration", part.apnsExpiration)
        object.member("bytes", part.bytes)
        object.member("limit", part.kind.bodyLimit)
        object.member("payload", raw: body(of: part))
        object.member("preview", shown(part))
        object.member("replaces", part.replaces.map { $0.uuidString.lowercased() })
    }
}

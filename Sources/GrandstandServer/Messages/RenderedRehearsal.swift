internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// The rehearsal of a broadcast, and the templates that show its content as lock screens would.
struct RenderedRehearsal: Sendable {
    let rehearsal: BroadcastRehearsal
    /// The templates of the apps that have some.
    let previews: [BundleID: ContentPreview]

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
}

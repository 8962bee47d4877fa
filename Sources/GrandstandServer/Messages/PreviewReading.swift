internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// The effect of a message, as the console shows it.
struct PreviewReading: Sendable {
    let goesAt: Moment
    let isScheduled: Bool
    let givesUpAt: Moment
    /// The messages of the first audiences. The rest is left out, because an event may have hundreds of audiences.
    let previewed: [PreviewedAudience]
    let audiencesLeftOut: String?
    /// The size of the message that is closest to its limit: `At most 312 of 5,120 bytes`.
    let largest: String
    let warnings: [String]

    private static let shown = 12

    init(_ preview: RenderedRehearsal) {
        let rehearsal = preview.rehearsal
        goesAt = Moment(rehearsal.goesAt)
        givesUpAt = Moment(rehearsal.expiresAt)
        isScheduled = rehearsal.isScheduled
        previewed = rehearsal.parts.prefix(Self.shown).map { PreviewedAudience($0, of: preview) }
        let rest = rehearsal.parts.count - previewed.count
        audiencesLeftOut = rest > 0 ? "\(Wording.count(rest, "more audience")) would get it." : nil
        largest =
            rehearsal.parts.min { $0.kind.bodyLimit - $0.bytes < $1.kind.bodyLimit - $1.bytes }.map {
                "At most \(PreviewedAudience.size($0))"
            } ?? "Nobody would get it"
        warnings = rehearsal.warnings
    }
}

/// The message of one audience.
struct PreviewedAudience: Sendable {
    let name: String
    /// `312 of 5,120 bytes`
    let size: String
    let priority: String
    /// `apns-expiration` in words.
    let expiration: String
    let previewCompact: String?
    let previewExpanded: String?
    /// The body that is sent to APNs.
    let payload: String
    /// Waiting messages that are not sent, because this message replaces them; `nil`: none.
    let replaced: String?

    init(_ part: BroadcastRehearsal.Part, of preview: RenderedRehearsal) {
        name = part.audience.words + (part.kind.isCrowd ? " (by token)" : "")
        size = Self.size(part)
        priority = Wording.number(preview.priority(of: part).rawValue)
        expiration = part.apnsExpiration == 0 ? "not stored" : "stored until \(Moment(epoch: part.apnsExpiration).text)"
        let shown = preview.shown(part)
        previewCompact = shown?.compact
        previewExpanded = shown?.expanded
        payload = ReadableJSON.text(preview.body(of: part))
        let count = part.replaces.count
        replaced =
            count == 0
            ? nil : "\(Wording.count(count, "message")) that \(count == 1 ? "waits" : "wait") would not be sent."
    }

    /// `312 of 5,120 bytes`
    static func size(_ part: BroadcastRehearsal.Part) -> String {
        "\(Wording.number(part.bytes)) of \(Wording.number(part.kind.bodyLimit)) bytes"
    }
}

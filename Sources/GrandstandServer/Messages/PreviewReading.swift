internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

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

    init(_ preview: Contract.BroadcastPreview) {
        goesAt = Moment(preview.goesAt)
        givesUpAt = Moment(preview.expiresAt)
        isScheduled = preview.isScheduled
        previewed = preview.audiences.prefix(Self.shown).map(PreviewedAudience.init)
        let rest = preview.audiences.count - previewed.count
        audiencesLeftOut = rest > 0 ? "\(Wording.count(rest, "more audience")) would get it." : nil
        largest =
            preview.audiences.min { $0.limit - $0.bytes < $1.limit - $1.bytes }.map {
                "At most \(PreviewedAudience.size($0))"
            } ?? "Nobody would get it"
        warnings = preview.warnings
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

    init(_ part: Contract.AudiencePreview) {
        name =
            Wording.list(part.bundleId, part.environment.rawValue, part.variant)
            + (part.kind == .tokens ? " (by token)" : "")
        size = Self.size(part)
        priority = Wording.number(part.priority)
        expiration = part.apnsExpiration == 0 ? "not stored" : "stored until \(Moment(epoch: part.apnsExpiration).text)"
        previewCompact = part.preview?.compact
        previewExpanded = part.preview?.expanded
        payload = ReadableJSON.text(Array(part.payload.bytes))
        let count = part.replaces.count
        replaced =
            count == 0
            ? nil : "\(Wording.count(count, "message")) that \(count == 1 ? "waits" : "wait") would not be sent."
    }

    /// `312 of 5,120 bytes`
    static func size(_ part: Contract.AudiencePreview) -> String {
        "\(Wording.number(part.bytes)) of \(Wording.number(part.limit)) bytes"
    }
}

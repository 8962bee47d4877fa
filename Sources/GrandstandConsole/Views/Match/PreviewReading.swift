internal import APNsWire
internal import Grandstand
internal import JSON

/// What a message would come to, read off the API's answer.
struct PreviewReading: Sendable {
    let goesAt: Moment
    let isScheduled: Bool
    let givesUpAt: Moment
    let audiences: [PreviewedAudience]
    let warnings: [String]

    /// - Throws: `malformed-json`.
    init(_ answer: APIAnswer) throws(Problem) {
        let json = try answer.json()
        goesAt = Moment(iso: json.text("goesAt"))
        givesUpAt = Moment(iso: json.text("expiresAt"))
        isScheduled = json.flag("isScheduled")
        audiences = json.items("audiences").map(PreviewedAudience.init)
        warnings = json.texts("warnings")
    }
}

/// What one audience would get.
struct PreviewedAudience: Sendable {
    let name: String
    /// `312 of 5,120 bytes`
    let size: String
    let priority: String
    /// `apns-expiration` in words.
    let expiration: String
    let previewCompact: String?
    let previewExpanded: String?
    /// The body to APNs.
    let payload: String
    /// Messages that wait and would not be sent any more; `nil`: none.
    let replaced: String?

    init(_ json: JSONValue) {
        name =
            Wording.list(json["bundleId"]?.string, json["environment"]?.string, json["variant"]?.string)
            + (json["kind"]?.string == "tokens" ? " (by token)" : "")
        size = "\(Wording.number(json.integer("bytes"))) of \(Wording.number(json.integer("limit"))) bytes"
        priority = Wording.number(json.integer("priority"))
        let epoch = json.integer("apnsExpiration")
        expiration = epoch == 0 ? "not stored" : "stored until \(Moment(epoch: epoch).text)"
        previewCompact = json["preview"]?["compact"]?.string
        previewExpanded = json["preview"]?["expanded"]?.string
        payload = json["payload"].map { ReadableJSON.text($0.bytes) } ?? ""
        let count = json.items("replaces").count
        replaced =
            count == 0
            ? nil : "\(Wording.count(count, "message")) that \(count == 1 ? "waits" : "wait") would not be sent."
    }
}

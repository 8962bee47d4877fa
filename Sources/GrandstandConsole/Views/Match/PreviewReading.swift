internal import APNsWire
internal import Grandstand

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
        goesAt = Moment(iso: json["goesAt"]?.string ?? "")
        givesUpAt = Moment(iso: json["expiresAt"]?.string ?? "")
        isScheduled = if case .bool(true)? = json["isScheduled"]?.kind { true } else { false }
        audiences = (json["audiences"]?.elements ?? []).map(PreviewedAudience.init)
        warnings = (json["warnings"]?.elements ?? []).compactMap(\.string)
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
            [json["bundleId"]?.string, json["environment"]?.string, json["variant"]?.string].compactMap(\.self)
            .joined(separator: ", ") + (json["kind"]?.string == "tokens" ? " (by token)" : "")
        size = "\(Self.number(json["bytes"])) of \(Self.number(json["limit"])) bytes"
        priority = Self.number(json["priority"])
        let epoch = Self.integer(json["apnsExpiration"])
        expiration = epoch == 0 ? "not stored" : "stored until \(Moment(epoch: epoch).text)"
        previewCompact = json["preview"]?["compact"]?.string
        previewExpanded = json["preview"]?["expanded"]?.string
        payload = json["payload"].map { ReadableJSON.text($0.bytes) } ?? ""
        let count = json["replaces"]?.elements?.count ?? 0
        replaced =
            count == 0
            ? nil : "\(Wording.count(count, "message")) that \(count == 1 ? "waits" : "wait") would not be sent."
    }

    private static func integer(_ value: JSONValue?) -> Int {
        if case .number(let text)? = value?.kind { Int(text) ?? 0 } else { 0 }
    }

    private static func number(_ value: JSONValue?) -> String { Wording.number(integer(value)) }
}

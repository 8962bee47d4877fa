internal import JSON

/// The JSON form of the variants' own parts: the member `byVariant` of the request body and of the database column.
extension BroadcastContent {
    /// JSON object text with contents and alerts exactly as the organiser wrote them; `nil` if no variant has its own
    /// part.
    package static func text(_ byVariant: [Variant: Override]) -> [UInt8]? {
        guard !byVariant.isEmpty else { return nil }
        return JSONWriter.text { object in
            for (variant, override) in byVariant.sorted(by: { $0.key < $1.key }) {
                object.name(dynamic: variant.rawValue)
                object.object { members in
                    if let contentState = override.contentState { members.member("contentState", raw: contentState) }
                    if let alert = override.alert { members.member("alert", raw: alert) }
                }
            }
        }
    }

    /// Parses the output of `text`.
    package static func byVariant(_ text: [UInt8]) throws(Problem) -> [Variant: Override] {
        guard case .object(let members) = try JSONValue(parsing: text).kind else { return [:] }
        var byVariant: [Variant: Override] = [:]
        for member in members {
            guard let variant = Variant(rawValue: member.name) else { continue }
            byVariant[variant] = Override(
                contentState: member.value["contentState"]?.bytes, alert: member.value["alert"]?.bytes)
        }
        return byVariant
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
package import JSON

extension BroadcastRequest: JSONObjectWritable {
    /// The body that asks for it once more: all that was said, and what its event's defaults added; without `sendAt`, for
    /// that is past.
    package func write(members object: inout JSONWriter) {
        object.member("event", payload.event.rawValue)
        if let contentState = payload.contentState { object.member("contentState", raw: contentState) }
        if let alert = payload.alert { object.member("alert", raw: alert) }
        if let byVariant = BroadcastContent.text(byVariant) { object.member("byVariant", raw: byVariant) }
        if let audiences { object.member("audiences", audiences.map(Contract.AudienceSelector.init)) }
        if let priority { object.member("priority", priority.rawValue) }
        if let expiresIn { object.member("expiresIn", expiresIn) }
        if let apnsExpiration { object.member("apnsExpiration", apnsExpiration) }
        if let staleDate = payload.staleDate { object.member("staleDate", Self.date(staleDate)) }
        if let dismissalDate = payload.dismissalDate { object.member("dismissalDate", Self.date(dismissalDate)) }
        if let relevanceScore = payload.relevanceScore { object.member("relevanceScore", raw: relevanceScore) }
    }

    private static func date(_ epoch: Int) -> Date? { Date(timeIntervalSince1970: Double(epoch)) }
}

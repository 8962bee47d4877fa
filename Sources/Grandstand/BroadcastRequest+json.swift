internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
package import JSON

extension BroadcastRequest: JSONObjectWritable {
    /// Writes a request body that repeats the broadcast: its members and the event's defaults that were filled in.
    /// `sendAt` is left out, because it is in the past.
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

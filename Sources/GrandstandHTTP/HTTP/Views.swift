internal import APNsWire
internal import FoundationEssentials
package import Grandstand
package import JSON

// The JSON of domain values, as in openapi.yaml, one extension for each noun. Values that the database stores or
// webhooks send have their JSON next to the type instead (…+json.swift).

extension Broadcast: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("id", id)
        object.member("eventKey", eventKey?.rawValue)
        object.member("event", event.rawValue)
        object.member("state", state.rawValue)
        object.member("acceptedAt", acceptedAt)
        if sendAt != nil { object.member("sendAt", sendAt) }
        if let sendAfterStart { object.member("afterStart", sendAfterStart) }
        object.member("by", by)
        if let withdrawnBy { object.member("withdrawnBy", withdrawnBy) }
        object.member("counts", counts: counts.map { ($0.state.rawValue, $0.count) })
        object.array("deliveries", deliveries) { writer, delivery in
            delivery.write(to: &writer, answerMilliseconds: answerMilliseconds(of: delivery))
        }
        object.member("warnings", warnings)
        if eventKey != nil { object.member("source", outcome == nil ? "broadcast" : "state") }
        if let outcome {
            object.member("outcome", outcome.rawValue)
            object.member("rule", rule)
        }
        if let request { object.member("message", request) }
    }
}

extension Delivery {
    /// - Parameter answerMilliseconds: `Broadcast.answerMilliseconds`.
    func write(to json: inout JSONWriter, answerMilliseconds: Int?) {
        json.object { object in
            object.member("kind", counts == nil ? "channel" : "tokens")
            if let counts { object.member("counts", counts) }
            object.member("bundleId", bundleID.rawValue)
            object.member("environment", environment.rawValue)
            if let variant { object.member("variant", variant.rawValue) }
            object.member("channelId", channelID)
            writeProgress(to: &object)
            if let answerMilliseconds { object.member("answerMilliseconds", answerMilliseconds) }
            if let supersededBy { object.member("supersededBy", supersededBy) }
        }
    }

    /// Writes the fields that deliveries to channels and to tokens share.
    func writeProgress(to object: inout JSONWriter) {
        object.member("state", state.rawValue)
        object.member("attempts", attempts)
        object.member("priority", priority.rawValue)
        object.member("apnsExpiration", apnsExpiration)
        object.member("timestamp", timestamp)
        object.member("apnsRequestId", apnsRequestID)
        object.member("apnsUniqueId", apnsUniqueID)
        object.member("reason", reason)
        object.member("nextAttemptAt", nextAttemptAt)
        object.member("settledAt", settledAt)
    }
}

/// The API's view of a single push. It shows only the last digits of the token.
struct PushView: JSONObjectWritable {
    let push: Broadcast
    let recipient: TokenAddress

    func write(members object: inout JSONWriter) {
        object.member("id", push.id)
        object.member("bundleId", recipient.app.bundleID.rawValue)
        object.member("environment", recipient.app.environment.rawValue)
        object.member("token", recipient.token.description)
        object.member("event", push.event.rawValue)
        object.member("state", push.state.rawValue)
        object.member("acceptedAt", push.acceptedAt)
        if push.sendAt != nil { object.member("sendAt", push.sendAt) }
        object.member("by", push.by)
        if let withdrawnBy = push.withdrawnBy { object.member("withdrawnBy", withdrawnBy) }
        object.name("delivery")
        if let delivery = push.deliveries.first {
            object.object { delivery.writeProgress(to: &$0) }
        } else {
            object.null()
        }
        object.member("warnings", push.warnings)
    }
}

extension Delivery.Counts: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("total", total)
        object.member("accepted", accepted)
        object.member("rejected", rejected)
        object.member("gone", gone)
        object.member("expired", expired)
        object.member("pending", pending)
    }
}

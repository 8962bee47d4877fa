internal import FoundationEssentials
package import Grandstand

extension EventDocuments {
    /// Events as `PUT /v1/events/{key}` takes them and `GET` shows them.
    package static let api = EventDocuments(
        read: { key, body throws(Problem) in try EventSpecification(key: key, body: body) },
        show: { specification in
            let epoch = Date(timeIntervalSince1970: 0)
            let event = Event(
                specification: specification, state: .scheduled,
                channels: specification.audiences.map { _ in Audience.ChannelStatus(state: .none) }, createdAt: epoch,
                updatedAt: epoch)
            guard let shown = try? JSONValue(parsing: JSONWriter.text(event)),
                case .object(let members) = shown.kind
            else { return [] }
            return JSONWriter.text { object in
                for member in members where !["key", "state", "createdAt", "updatedAt"].contains(member.name) {
                    object.name(dynamic: member.name)
                    if member.name == "audiences" {
                        object.array(member.value.elements ?? []) { Self.write(declared: $1, to: &$0) }
                    } else {
                        object.raw(member.value.source)
                    }
                }
            }
        })

    /// An audience without its channel.
    private static func write(declared audience: JSONValue, to json: inout JSONWriter) {
        guard case .object(let members) = audience.kind else { return json.raw(audience.source) }
        json.object { object in
            for member in members where member.name != "channel" {
                object.name(dynamic: member.name)
                object.raw(member.value.source)
            }
        }
    }
}

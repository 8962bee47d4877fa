internal import FoundationEssentials
package import Grandstand
internal import GrandstandContract
internal import JSON

extension EventDocuments {
    /// Event documents in the format that `PUT /v1/events/{key}` takes and `GET` returns.
    package static let api = EventDocuments(
        read: { key, body throws(Problem) in try EventSpecification(key: key, body: body) },
        show: { specification in
            let epoch = Date(timeIntervalSince1970: 0)
            let event = Event(
                specification: specification, state: .scheduled,
                channels: specification.audiences.map { _ in Audience.ChannelStatus(state: .none) }, createdAt: epoch,
                updatedAt: epoch)
            return JSONWriter.text(Contract.Event(event))
        })
}

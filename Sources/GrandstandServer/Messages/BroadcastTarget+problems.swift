internal import FoundationEssentials
internal import Grandstand

extension BroadcastTarget {
    /// The problem of a target that does not exist.
    var absent: Problem {
        switch self {
        case .event(let key):
            .noEvent(key)
        case .channel(let id):
            Problem(
                .channelNotFound, "The channel \(id.uuidString.lowercased()) is not active, or belongs to an event.")
        }
    }

    /// The problem of a target that is over.
    var over: Problem {
        switch self {
        case .event(let key):
            Problem(
                .eventEnded,
                "The event \(key) is over, or over for these audiences; nothing more is sent to them. If its end was a "
                    + "mistake, take it back with POST /v1/events/\(key)/reopen.")
        case .channel: Problem(.eventEnded, "An end was sent to this channel; nothing follows it. Create another.")
        }
    }
}

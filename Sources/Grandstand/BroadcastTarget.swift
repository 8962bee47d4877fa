package import FoundationEssentials

/// The recipients of a broadcast.
package enum BroadcastTarget: Sendable, Hashable {
    /// The audiences of an event.
    case event(EventKey)
    /// A channel that belongs to no event, by our ID.
    case channel(UUID)

    package var eventKey: EventKey? { if case .event(let key) = self { key } else { nil } }

    package var channel: UUID? { if case .channel(let id) = self { id } else { nil } }

    /// The problem of a target that does not exist.
    package var absent: Problem {
        switch self {
        case .event(let key):
            .noEvent(key)
        case .channel(let id):
            Problem(.channelNotFound, "The channel \(id.text) is not active, or belongs to an event.")
        }
    }

    /// The problem of a target that is over.
    package var over: Problem {
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

extension Problem {
    /// The error for an event that does not exist. An event out of the caller's reach gets the same text, so that the
    /// answer does not reveal which events others have.
    package static func noEvent(_ key: EventKey) -> Problem {
        Problem(.eventNotFound, "There is no event \(key). Declare it with PUT /v1/events/\(key) first.")
    }

    /// The error for an app that is not registered.
    package static func noApp(_ bundleID: BundleID) -> Problem {
        Problem(.appNotFound, "There is no app \(bundleID). Register it with PUT /v1/apps/\(bundleID) first.")
    }

    /// The error for an event key that the caller cannot use: an event out of its reach has the key, or the key has a
    /// prefix that other API keys are bound to. Within such a prefix the answer does not reveal which keys are taken.
    package static func takenEvent(_ key: EventKey) -> Problem {
        Problem(
            .forbidden,
            "The event key \(key) is taken by an event that your key does not reach, or it is reserved for other keys. "
                + "Choose another event key, or ask an administrator, who can see whose it is.")
    }
}

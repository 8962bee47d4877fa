public import GrandstandContract
internal import JSON

extension GrandstandClient {
    /// The state of a stream's connection.
    public enum StreamConnection: Sendable {
        /// Connected. Updates follow.
        case open
        /// Not connected, for this reason. The client connects again by itself.
        case lost(any Error)
    }

    /// One update of an event's stream.
    public struct EventUpdate: Sendable, Hashable {
        /// Identifies this update. A later stream can continue after it (`after`).
        public var id: String?
        /// The decoded update.
        public var content: Content
        /// The update's JSON as received.
        public var data: RawJSON

        /// The kinds of updates.
        public enum Content: Sendable, Hashable {
            /// The event's state and its newest broadcasts. It is the first update of each connection, unless nothing
            /// has changed since the last update that the client has.
            case snapshot(LiveBoard)
            /// A new broadcast, or a broadcast that has changed.
            case broadcast(BroadcastSummary)
            /// The event's new state.
            case state(EventState)
            /// A kind that this version does not know, with its name.
            case other(String)
        }
    }
}

extension GrandstandClient.EventUpdate {
    init(_ message: EventStreamParser.Message) throws {
        id = message.id
        data = try RawJSON(json: message.data)
        switch message.name {
        case "snapshot": content = .snapshot(try Contract.LiveBoard(json: data.value))
        case "broadcast": content = .broadcast(try Contract.BroadcastSummary(json: data.value))
        case "state": content = .state(try Contract.EventStateChange(json: data.value).state)
        default: content = .other(message.name)
        }
    }
}

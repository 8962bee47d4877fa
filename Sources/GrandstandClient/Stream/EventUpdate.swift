public import GrandstandContract
internal import JSON

extension GrandstandClient {
    /// How a stream is connected.
    public enum StreamConnection: Sendable {
        /// It is; what there is to tell comes.
        case open
        /// It is not, for this reason; it is opened again by itself.
        case lost(any Error)
    }

    /// What an event's stream tells.
    public struct EventUpdate: Sendable, Hashable {
        /// Names all that is known so far: what a later stream begins after.
        public var id: String?
        /// What it is.
        public var content: Content
        /// Its JSON as it came.
        public var data: RawJSON

        /// What an update tells.
        public enum Content: Sendable, Hashable {
            /// All there is, first of all.
            case snapshot(LiveBoard)
            /// A broadcast is new, or has become something else.
            case broadcast(BroadcastSummary)
            /// The event's own state.
            case state(EventState)
            /// Something that only a newer client knows, by its name.
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

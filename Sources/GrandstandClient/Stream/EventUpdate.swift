public import Foundation

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
            case broadcast(LiveBroadcast)
            /// The event's own state.
            case state(EventState)
            /// Something that only a newer client knows, by its name.
            case other(String)
        }
    }

    /// An event's state and its newest broadcasts.
    public struct LiveBoard: Sendable, Hashable, Codable {
        /// The organiser's name for the event.
        public var eventKey: String
        /// The event's state.
        public var state: EventState
        /// The newest first, 20 at most.
        public var broadcasts: [LiveBroadcast]
    }

    /// A broadcast and what has become of it, in numbers.
    public struct LiveBroadcast: Sendable, Hashable, Codable {
        /// The broadcast's ID.
        public var id: String
        /// An update or the end.
        public var event: MessageKind
        /// How far it has come.
        public var state: BroadcastState
        /// When it was accepted, durably.
        public var acceptedAt: Date
        /// When it is sent, if not at once.
        public var sendAt: Date?
        /// Its deliveries by state.
        public var counts: [String: Int]
    }
}

extension GrandstandClient.EventUpdate {
    init(_ message: EventStreamParser.Message) throws {
        id = message.id
        data = try RawJSON(json: message.data)
        switch message.name {
        case "snapshot": content = .snapshot(try JSONText.value(GrandstandClient.LiveBoard.self, in: data.bytes))
        case "broadcast":
            content = .broadcast(try JSONText.value(GrandstandClient.LiveBroadcast.self, in: data.bytes))
        case "state":
            struct State: Decodable { let state: GrandstandClient.EventState }
            content = .state(try JSONText.value(State.self, in: data.bytes).state)
        default: content = .other(message.name)
        }
    }
}

extension GrandstandClient {
    /// A broadcast of a batch: a draft, and the event it goes to.
    public typealias BroadcastItem = Joined<EventName, BroadcastDraft>

    /// Which event.
    public struct EventName: Sendable, Hashable, Codable {
        /// The organiser's name for it.
        public var eventKey: String
    }

    /// What became of each broadcast of a batch, in order.
    public struct BroadcastBatchResult: Sendable, Hashable, Codable {
        /// One for each.
        public var items: [BroadcastOutcome]
    }

    /// What became of one broadcast of a batch.
    public enum BroadcastOutcome: Sendable, Hashable, Codable {
        case accepted(Broadcast)
        case refused(ServerProblem)

        private enum CodingKeys: CodingKey { case problem }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if container.contains(.problem) {
                self = .refused(try container.decode(ServerProblem.self, forKey: .problem))
            } else {
                self = .accepted(try Broadcast(from: decoder))
            }
        }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws {
            switch self {
            case .accepted(let broadcast): try broadcast.encode(to: encoder)
            case .refused(let problem):
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(problem, forKey: .problem)
            }
        }
    }
}

extension GrandstandClient.BroadcastItem {
    /// The draft for this event.
    public init(eventKey: String, _ draft: GrandstandClient.BroadcastDraft) {
        self.init(.init(eventKey: eventKey), draft)
    }
}

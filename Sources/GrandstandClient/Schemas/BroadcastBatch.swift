extension GrandstandClient {
    /// Up to 500 broadcasts, accepted in one commit, each on its own.
    public struct BroadcastBatch: Sendable, Hashable, Codable {
        /// The broadcasts.
        public var items: [BroadcastItem]

        /// A batch of these.
        public init(items: [BroadcastItem]) { self.items = items }
    }

    /// A broadcast of a batch: a draft, and the event it goes to.
    public struct BroadcastItem: Sendable, Hashable, Codable {
        /// The organiser's name for the event.
        public var eventKey: String
        /// What is sent.
        public var draft: BroadcastDraft

        /// The draft for this event.
        public init(eventKey: String, _ draft: BroadcastDraft) {
            self.eventKey = eventKey
            self.draft = draft
        }

        private enum CodingKeys: CodingKey { case eventKey }

        /// Reads it as the API writes it.
        public init(from decoder: any Decoder) throws {
            eventKey = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .eventKey)
            draft = try BroadcastDraft(from: decoder)
        }

        /// Writes it as the API reads it.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(eventKey, forKey: .eventKey)
            try draft.encode(to: encoder)
        }
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

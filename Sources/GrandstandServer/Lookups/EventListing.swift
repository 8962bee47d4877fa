internal import Grandstand

/// The fields of an event that lists for apps have and lookups do not have. The records of all its audiences share one
/// listing.
final class EventListing: Sendable, Hashable {
    let name: String
    let kind: String?
    let topics: [Topic]

    init(name: String, kind: String? = nil, topics: [Topic] = []) {
        self.name = name
        self.kind = kind
        self.topics = topics
    }

    static func == (one: EventListing, other: EventListing) -> Bool {
        one === other || one.name == other.name && one.kind == other.kind && one.topics == other.topics
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(topics)
    }
}

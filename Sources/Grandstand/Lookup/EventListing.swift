/// The fields of an event that lists for apps have and lookups do not have. The records of all its audiences share one
/// listing.
package final class EventListing: Sendable, Hashable {
    package let name: String
    package let kind: String?
    package let topics: [Topic]

    package init(name: String, kind: String? = nil, topics: [Topic] = []) {
        self.name = name
        self.kind = kind
        self.topics = topics
    }

    package static func == (one: EventListing, other: EventListing) -> Bool {
        one === other || one.name == other.name && one.kind == other.kind && one.topics == other.topics
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(topics)
    }
}

package import JSON

/// The live view's state of one event: its state and its newest broadcasts.
package struct LiveBoard: Sendable, Hashable {
    package var eventKey: EventKey
    package var state: Event.State
    /// The newest first.
    package var broadcasts: [BroadcastSummary]

    package init(eventKey: EventKey, state: Event.State, broadcasts: [BroadcastSummary]) {
        self.eventKey = eventKey
        self.state = state
        self.broadcasts = broadcasts
    }

    /// How many broadcasts a board shows.
    package static let length = 20

    /// Names the board's content, on every replica alike: a viewer that has seen this tag has missed nothing.
    package var tag: String {
        String(FNV.hash(JSONWriter.text(self)), radix: 16)
    }

    /// The updates that make this board of an `earlier` one, the oldest broadcast first.
    package func changes(since earlier: LiveBoard) -> [LiveUpdate.Content] {
        let known = Dictionary(earlier.broadcasts.map { ($0.id, $0) }) { first, _ in first }
        let changed = broadcasts.reversed().filter { known[$0.id] != $0 }
        return changed.map { .broadcast($0) } + (state == earlier.state ? [] : [.state(state)])
    }
}

extension LiveBoard: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("eventKey", eventKey.rawValue)
        object.member("state", state.rawValue)
        object.member("broadcasts", broadcasts)
    }
}

/// An update for a live view.
package struct LiveUpdate: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        /// All there is, first of all.
        case snapshot(LiveBoard)
        /// A broadcast is new, or has become something else.
        case broadcast(BroadcastSummary)
        /// The event's own state.
        case state(Event.State)
        /// Nothing: a sign of life, for proxies and for readers.
        case heartbeat
    }

    package var content: Content
    /// The board's tag once this and everything before it is known; `nil` within a group of changes, where it would
    /// promise too much.
    package var tag: String?

    package init(_ content: Content, tag: String?) {
        self.content = content
        self.tag = tag
    }
}

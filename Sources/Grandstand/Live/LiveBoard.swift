package import GrandstandContract
internal import JSON

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

    /// The most broadcasts on a board.
    package static let length = 20

    /// Identifies the board's content, the same on every replica. A viewer that has this tag has missed nothing.
    package var tag: String {
        String(FNV.hash(JSONWriter.text(Contract.LiveBoard(self))), radix: 16)
    }

    /// The updates that turn an `earlier` board into this one, the oldest broadcast first.
    package func changes(since earlier: LiveBoard) -> [LiveUpdate.Content] {
        let known = Dictionary(earlier.broadcasts.map { ($0.id, $0) }) { first, _ in first }
        let changed = broadcasts.reversed().filter { known[$0.id] != $0 }
        return changed.map { .broadcast($0) } + (state == earlier.state ? [] : [.state(state)])
    }
}

extension Contract.LiveBoard {
    package init(_ board: LiveBoard) {
        self.init(
            eventKey: board.eventKey.rawValue, state: .init(board.state),
            broadcasts: board.broadcasts.map(Contract.BroadcastSummary.init))
    }
}

/// An update for a live view.
package struct LiveUpdate: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        /// The whole board. This is the first update that a viewer gets.
        case snapshot(LiveBoard)
        /// A broadcast is new or changed.
        case broadcast(BroadcastSummary)
        /// The event's own state.
        case state(Event.State)
        /// Nothing changed. The update shows proxies and viewers that the stream is alive.
        case heartbeat
    }

    package var content: Content
    /// The board's tag after this update; `nil` for all but the last of a group of changes, because the viewer does not
    /// have the whole group yet.
    package var tag: String?

    package init(_ content: Content, tag: String?) {
        self.content = content
        self.tag = tag
    }
}

package import Foundation
package import GrandstandClient

/// What an installation is and what of it the server has yet to hear. It is its own queue: what waits is the newest state,
/// so nothing piles up, and a crash loses nothing that was written.
package struct DeviceRecord: Codable, Sendable, Hashable {
    /// Whose record it is; a backup brings it to another phone, where it becomes another one's.
    package var installation: UUID?
    package private(set) var facts = InstallationFacts()
    /// Of the newest facts. No two states have the same one, so of two requests that overtake each other the newer holds.
    package var sequence = 0
    /// The sequence that the server has; `nil`: it may not know the installation.
    package var confirmed: Int?
    /// When the last registration was, for the next one without a change.
    package var repetition: Repetition?
    /// Registrations whose answer did not come, with the one under way: after those "known already" may mean by them.
    package var unanswered = 0
    package var activities: [String: ActivityEntry] = [:]
    package var wanted: [WantedStart] = []
    /// The oldest first.
    package private(set) var shown: [GrandstandClient.Receipt] = []
    /// Whether the server asks this installation for receipts.
    package var isSampled = false
    /// Everything is to be forgotten, here and there.
    package var isLeaving = false
    /// Everything is forgotten; nothing is said until people follow or show something again.
    package var isGone = false

    package init() {}

    /// The server keeps so many receipts about an event; more are not worth room.
    package static let mostShown = 2_000

    /// Changes what the installation says of itself; what comes to the same is no change.
    package mutating func say(_ change: (inout InstallationFacts) -> Void) {
        var new = facts
        change(&new)
        new.normalise()
        guard new != facts else { return }
        facts = new
        sequence += 1
    }

    /// Whether the server has yet to hear of the newest facts.
    package var isBehind: Bool { confirmed != sequence }

    /// Takes in what an activity is now. An activity that is there is not wanted any more.
    package mutating func see(_ snapshot: ActivitySnapshot) {
        if activities[snapshot.id] == nil {
            // Somebody else's memory of it, or none: what is gone and was never told of needs no word.
            guard snapshot.state != .dismissed else { return }
            activities[snapshot.id] = ActivityEntry(snapshot)
        } else {
            activities[snapshot.id]?.see(snapshot)
        }
        if snapshot.state.isLive { wanted.removeAll { $0.isOf(snapshot) } }
        drop(snapshot.id)
    }

    /// The cards of the same event that an activity takes the place of: a push started it beside them, because nothing
    /// reaches them any more or the app was faster. It is new to this record, they are not.
    package func cards(replacedBy snapshot: ActivitySnapshot) -> [String] {
        guard activities[snapshot.id] == nil, snapshot.state == .active || snapshot.state == .stale else { return [] }
        return activities.filter { _, entry in
            entry.eventKey == snapshot.eventKey && entry.attributesType == snapshot.attributesType && entry.state.isLive
        }.keys.sorted()
    }

    /// Notes the channel of an activity that a push started, and the variant of its audience.
    package mutating func learn(_ channel: String, _ variant: String?, of activity: String) {
        guard activities[activity]?.channelID == nil else { return }
        activities[activity]?.channelID = channel
        activities[activity]?.variant = variant
        activities[activity]?.version += 1
    }

    /// Wants an activity, in place of what was wanted for the same event and type.
    package mutating func want(_ wanted: WantedStart) {
        self.wanted.removeAll { $0.isSame(as: wanted) }
        self.wanted.append(wanted)
    }

    /// Takes in all activities there are: those that are not among them were removed while nobody looked.
    package mutating func see(all snapshots: [ActivitySnapshot], of types: Set<String>) {
        for snapshot in snapshots { see(snapshot) }
        let there = Set(snapshots.map(\.id))
        for (id, entry) in activities where types.contains(entry.attributesType) && !there.contains(id) {
            guard entry.state != .pending else {
                activities[id] = nil
                continue
            }
            guard entry.state != .dismissed else { continue }
            activities[id]?.state = .dismissed
            activities[id]?.version += 1
        }
    }

    /// Repeats, once, what may have been overtaken by an older report that was under way.
    package mutating func clearDoubts() {
        for (id, entry) in activities where entry.isInDoubt {
            activities[id]?.isInDoubt = false
            activities[id]?.confirmed = nil
        }
    }

    /// The server does not know the installation (any more): all is to be said again.
    package mutating func startAnew() {
        confirmed = nil
        for id in activities.keys { activities[id]?.confirmed = nil }
    }

    /// Becomes the record of another installation: of a restored phone, or after the secret was lost. What people follow
    /// stays; activities and receipts are the other one's.
    ///
    /// - Returns: whether it was another one's: what this phone has is to be looked at anew.
    package mutating func move(to new: UUID) -> Bool {
        guard installation != new else { return false }
        let isFirst = installation == nil
        installation = new
        guard !isFirst else { return false }
        say { $0.startTokens = [:] }
        activities = [:]
        shown = []
        isSampled = false
        confirmed = nil
        return true
    }

    /// The same phone under a new name: what it shows is still there.
    package mutating func rename(to new: UUID) {
        installation = new
        startAnew()
    }

    /// People follow or show something again.
    ///
    /// - Returns: whether everything had been forgotten.
    package mutating func comeBack() -> Bool {
        let wasGone = isGone
        isGone = false
        isLeaving = false
        return wasGone
    }

    /// Notes a receipt, where one is asked for.
    package mutating func note(_ message: GrandstandClient.Receipt) {
        guard isSampled else { return }
        shown.append(message)
        shown.removeFirst(max(0, shown.count - Self.mostShown))
    }

    /// So many receipts need not be kept any longer.
    mutating func dropShown(_ count: Int) { shown.removeFirst(min(count, shown.count)) }

    /// Forgets an activity of which nothing will be said any more.
    mutating func drop(_ id: String) {
        if activities[id]?.isSettled == true { activities[id] = nil }
    }
}

package import Foundation

/// The state of an installation, and which part of this state the server does not have yet. The record needs no queue,
/// because only the newest state is uploaded. A crash loses nothing that was written.
package struct DeviceRecord: Codable, Sendable, Hashable {
    /// The installation that the record belongs to. A backup may copy the record to another phone, where it becomes the
    /// record of another installation.
    package var installation: UUID?
    package private(set) var facts = InstallationFacts()
    /// The number of the newest facts. No two states have the same number, so if two requests overtake each other, the
    /// newer request wins.
    package var sequence = 0
    /// The sequence that the server has; `nil`: the server may not know the installation.
    package var confirmed: Int?
    /// When the last registration was answered. It decides when the phone registers again although nothing has changed;
    /// `nil`: there was none.
    package var repetition: Repetition?
    /// The number of registrations without an answer, including the registration in progress. If there are any, "not
    /// new" in an answer may be wrong: an unanswered registration may have created the installation.
    package var unanswered = 0
    package var activities: [String: ActivityEntry] = [:]
    package var wanted: [WantedStart] = []
    /// Whether the installation is to be forgotten on the phone and on the server.
    package var isLeaving = false
    /// Whether the installation was forgotten. Nothing is sent until people follow or show something again.
    package var isGone = false

    package init() {}

    /// Changes the facts. If the result is the same as before, nothing changes.
    package mutating func changeFacts(_ change: (inout InstallationFacts) -> Void) {
        var new = facts
        change(&new)
        new.normalise()
        guard new != facts else { return }
        facts = new
        sequence += 1
    }

    /// Whether the newest facts must be uploaded.
    package var isBehind: Bool { confirmed != sequence }

    /// Takes over the present state of an activity. If the activity is live, the request to show it is removed.
    package mutating func see(_ snapshot: ActivitySnapshot) {
        if activities[snapshot.id] == nil {
            // This record does not know the activity, and the activity was already removed, so it needs no report. If
            // the server knows the activity, then from a record that this phone had before.
            guard snapshot.state != .dismissed else { return }
            activities[snapshot.id] = ActivityEntry(snapshot)
        } else {
            activities[snapshot.id]?.see(snapshot)
        }
        if snapshot.state.isLive { wanted.removeAll { $0.isOf(snapshot) } }
        drop(snapshot.id)
    }

    /// The activities of the same event that `snapshot` replaces: a push started `snapshot` while they were still
    /// shown. Either they no longer get updates, or the app had started an activity itself before the push arrived.
    /// `snapshot` must be new to this record.
    package func cards(replacedBy snapshot: ActivitySnapshot) -> [String] {
        guard activities[snapshot.id] == nil, snapshot.state == .active || snapshot.state == .stale else { return [] }
        return activities.filter { _, entry in
            entry.eventKey == snapshot.eventKey && entry.attributesType == snapshot.attributesType && entry.state.isLive
        }.keys.sorted()
    }

    /// Records the channel of an activity that a push started, and the variant of its audience.
    package mutating func learn(_ channel: String, _ variant: String?, of activity: String) {
        guard activities[activity]?.channelID == nil else { return }
        activities[activity]?.channelID = channel
        activities[activity]?.variant = variant
        activities[activity]?.version += 1
    }

    /// Records a request to show an activity. It replaces an earlier request for the same event and type.
    package mutating func want(_ wanted: WantedStart) {
        self.wanted.removeAll { $0.isSame(as: wanted) }
        self.wanted.append(wanted)
    }

    /// Takes over all present activities. If a known activity is not in `snapshots`, it was removed in the meantime.
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

    /// Repeats the newest report of each activity that had a report without an answer, because the unanswered report
    /// may have reached the server after the newest one.
    package mutating func clearDoubts() {
        for (id, entry) in activities where entry.isInDoubt {
            activities[id]?.isInDoubt = false
            activities[id]?.confirmed = nil
        }
    }

    /// The server does not know the installation, so everything must be uploaded again.
    package mutating func startAnew() {
        confirmed = nil
        for id in activities.keys { activities[id]?.confirmed = nil }
    }

    /// Becomes the record of another installation: on a restored phone, or after the secret was lost. The topics stay;
    /// activities belong to the old installation and are dropped.
    ///
    /// - Returns: whether it belonged to another installation. Then the caller must read activities and tokens from
    ///   ActivityKit again.
    package mutating func move(to new: UUID) -> Bool {
        guard installation != new else { return false }
        let isFirst = installation == nil
        installation = new
        guard !isFirst else { return false }
        changeFacts { $0.startTokens = [:] }
        activities = [:]
        confirmed = nil
        return true
    }

    /// Gives the installation on the same phone a new ID. Its activities stay.
    package mutating func rename(to new: UUID) {
        installation = new
        startAnew()
    }

    /// Cancels the request to forget the installation, or the forgotten state, because people follow or show something
    /// again.
    ///
    /// - Returns: whether the installation had already been forgotten.
    package mutating func comeBack() -> Bool {
        let wasGone = isGone
        isGone = false
        isLeaving = false
        return wasGone
    }

    /// Drops an activity that needs no more reports.
    mutating func drop(_ id: String) {
        if activities[id]?.isSettled == true { activities[id] = nil }
    }
}

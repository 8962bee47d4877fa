internal import Foundation
internal import GrandstandClient

/// The state of an installation, and which part of this state the server does not have yet. The record needs no queue,
/// because only the newest state is uploaded. A crash loses nothing that was written.
package struct DeviceRecord: Codable, Sendable, Hashable {
    /// The installation that the record belongs to. A backup may copy the record to another phone, where it becomes the
    /// record of another installation.
    package var installation: String?
    package private(set) var facts = InstallationFacts.unread
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
    /// The activities by their IDs.
    package var activities: [String: DeviceActivity] = [:]
    /// The requests to show an activity, by `WantedStart.name`, so there is one for each event and type.
    package var wanted: [String: WantedStart] = [:]
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

    /// Takes over the state of the system: the facts, and all present activities. If a known activity is not there, it
    /// was removed in the meantime.
    ///
    /// - Returns: the activities that a new one of the same event and type replaces: a push started it while they were
    ///   still shown. Either they no longer get updates, or the app had started them itself before the push arrived.
    package mutating func see(_ condition: HostCondition) -> [String] {
        changeFacts { $0.see(condition) }
        let new = condition.activities.filter { activities[$0.id] == nil && $0.state.isShown }
        let replaced = activities.values.filter { known in
            known.state.isLive && new.contains { $0.name == known.name }
        }
        for activity in condition.activities { see(activity) }
        let present = Set(condition.activities.map(\.id))
        for (id, activity) in activities
        where condition.types.contains(activity.attributesType) && !present.contains(id) {
            if activity.state == .pending {
                activities[id] = nil
            } else if activity.state != .dismissed {
                activities[id]?.state = .dismissed
                activities[id]?.version += 1
            }
        }
        return replaced.map(\.id).sorted()
    }

    /// Takes over the present state of an activity. If the activity is live, the request to show it is removed.
    package mutating func see(_ activity: DeviceActivity) {
        // This record does not know the activity, and the activity was already removed, so it needs no report. If the
        // server knows the activity, then from a record that this phone had before.
        guard activities[activity.id] != nil || activity.state != .dismissed else { return }
        activities[activity.id, default: activity].see(activity)
        if let start = wanted[activity.name], activity.state.isLive, start.replaces != activity.id {
            wanted[activity.name] = nil
        }
        drop(activity.id)
    }

    /// Records the channel of an activity that a push started, and the variant of its audience.
    package mutating func learn(_ channel: String, _ variant: String?, of activity: String) {
        guard activities[activity]?.channelID == nil else { return }
        activities[activity]?.channelID = channel
        activities[activity]?.variant = variant
        activities[activity]?.version += 1
    }

    /// Repeats the newest report of each activity that had a report without an answer, because the unanswered report
    /// may have reached the server after the newest one.
    package mutating func clearDoubts() {
        for (id, activity) in activities where activity.isInDoubt {
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
    package mutating func move(to new: String) -> Bool {
        let old = installation
        installation = new
        guard old != nil, old != new else { return false }
        changeFacts { $0.startTokens = [] }
        activities = [:]
        confirmed = nil
        return true
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

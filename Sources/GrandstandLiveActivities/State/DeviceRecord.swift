package import GrandstandClient

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
    package var repetition: Reregistration?
    /// The number of registrations without an answer, including the registration in progress. If there are any, "not
    /// new" in an answer may be wrong: an unanswered registration may have created the installation.
    package var unanswered = 0
    /// The activities by their IDs.
    package var activities: [String: DeviceActivity] = [:]
    /// The requests to show an activity, by `WantedStart.startKey`, so there is one for each event and type.
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
    package var hasNewFacts: Bool { confirmed != sequence }

    /// Takes over the state of the system: the facts, and all present activities. If a known activity is not there, it
    /// was removed in the meantime.
    ///
    /// - Returns: the activities that a new one of the same event and type replaces: a push started it while they were
    ///   still shown. Either they no longer get updates, or the app had started them itself before the push arrived.
    package mutating func merge(_ condition: HostCondition) -> [String] {
        changeFacts { $0.merge(condition) }
        let new = condition.activities.filter { activities[$0.id] == nil && $0.state.isUpdatable }
        let replaced = activities.values.filter { known in
            known.state.isLive && new.contains { $0.startKey == known.startKey }
        }
        for activity in condition.activities { merge(activity) }
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
    package mutating func merge(_ activity: DeviceActivity) {
        // This record does not know the activity, and the activity was already removed, so it needs no report. If the
        // server knows the activity, then from a record that this phone had before.
        guard activities[activity.id] != nil || activity.state != .dismissed else { return }
        activities[activity.id, default: activity].merge(activity)
        if let start = wanted[activity.startKey], activity.state.isLive, start.replaces != activity.id {
            wanted[activity.startKey] = nil
        }
        dropSettled(activity.id)
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
    package mutating func repeatInDoubt() {
        for (id, activity) in activities where activity.isInDoubt {
            activities[id]?.isInDoubt = false
            activities[id]?.confirmed = nil
        }
    }

    /// The server does not know the installation, so everything must be uploaded again.
    package mutating func resetConfirmed() {
        confirmed = nil
        for id in activities.keys { activities[id]?.confirmed = nil }
    }

    /// Becomes the record of another installation: on a restored phone, or after the secret was lost. The topics stay;
    /// activities belong to the old installation and are dropped.
    ///
    /// - Returns: whether it belonged to another installation. Then the caller must read activities and tokens from
    ///   ActivityKit again.
    package mutating func reassign(to new: String) -> Bool {
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
    package mutating func undoForget() -> Bool {
        let wasGone = isGone
        isGone = false
        isLeaving = false
        return wasGone
    }

    /// Drops an activity that needs no more reports.
    mutating func dropSettled(_ id: String) {
        if activities[id]?.isSettled == true { activities[id] = nil }
    }
}

/// The facts of an installation are the body of its registration. Their `sequence` is set when they are sent.
package typealias InstallationFacts = GrandstandClient.InstallationDraft

extension InstallationFacts {
    /// No facts: `systemVersion` is empty until the system's state has been read, and nothing is sent before this
    /// reading.
    package static let unread = InstallationFacts(systemVersion: "", startTokens: [], topics: [])

    /// Start tokens in hex, by type of attributes.
    package var tokens: [String: String] {
        get { Dictionary((startTokens ?? []).map { ($0.attributesType, $0.token) }) { $1 } }
        set {
            startTokens = newValue.map { .init(attributesType: $0.key, token: $0.value) }
                .sorted { $0.attributesType < $1.attributesType }
        }
    }

    /// The maximum number of topics that the server accepts for an installation.
    package static let maxTopics = 200

    /// Takes over the facts of the system. What people follow stays.
    mutating func merge(_ condition: HostCondition) {
        let known = self
        self = condition.facts
        variant = known.variant
        topics = known.topics
        // Remove tokens of types that the app no longer has. Keep known tokens that the system has not provided again
        // yet.
        let kept = known.tokens.filter { condition.types.contains($0.key) }
        tokens = kept.merging(tokens) { $1 }
    }

    /// Removes texts that the server would refuse, so that a registration does not fail because of them.
    mutating func normalise() {
        appVersion = Self.allowed(appVersion, "appVersion")
        locale = Self.allowed(locale, "locale")
        timeZone = Self.allowed(timeZone, "timeZone")
        topics = Set(topics ?? []).sorted()
    }

    /// - Returns: `nil` for a text that openapi.yaml does not allow for this member.
    private static func allowed(_ text: String?, _ member: String) -> String? {
        guard case .object(let members, _) = shape,
            case .text(let rule)? = members.first(where: { $0.name == member })?.shape
        else { return nil }
        return text.flatMap { rule.accepts($0) ? $0 : nil }
    }
}

/// An activity as the phone knows it, and the version of it that the server already knows.
package struct ActivityEntry: Codable, Sendable, Hashable {
    package var eventKey: String
    package var attributesType: String
    package var state: ActivityPhase
    package var updateToken: String?
    package var channelID: String?
    /// The variant of the activity's audience; `nil`: unknown, or the audience has none.
    package var variant: String?
    /// The version of this entry. It grows with each change.
    package var version = 1
    /// The newest version that the server has; `nil`: the server has no version.
    package var confirmed: Int?
    /// Whether a report had no answer. The unanswered report may still arrive after newer reports, so the newest report
    /// is later sent once more.
    package var isInDoubt = false

    init(_ snapshot: ActivitySnapshot) {
        eventKey = snapshot.eventKey
        attributesType = snapshot.attributesType
        state = snapshot.state
        updateToken = snapshot.updateToken
        channelID = snapshot.channelID
    }

    /// Takes over a snapshot. If the snapshot has no token or channel, the known token or channel stays, because the
    /// server also keeps it.
    mutating func see(_ snapshot: ActivitySnapshot) {
        var new = self
        new.eventKey = snapshot.eventKey
        new.state = snapshot.state
        new.updateToken = snapshot.updateToken ?? updateToken
        new.channelID = snapshot.channelID ?? channelID
        guard new != self else { return }
        new.version += 1
        self = new
    }

    /// Whether the activity must be reported. A scheduled activity is not reported yet, because the server takes the
    /// first report of an activity as the confirmation that a start reached the device.
    package var isDue: Bool { state != .pending && confirmed != version }

    /// Whether the activity needs no more reports.
    var isSettled: Bool { state == .dismissed && !isDue && !isInDoubt }
}

/// An activity as the phone knows it, and the part that the server already knows.
package struct ActivityEntry: Codable, Sendable, Hashable {
    package var eventKey: String
    package var attributesType: String
    package var state: ActivityPhase
    package var updateToken: String?
    package var channelID: String?
    /// The variant of its audience; `nil`: unknown, or the audience has none.
    package var variant: String?
    /// Grows with each change.
    package var version = 1
    /// The newest version that the server has; `nil`: none.
    package var confirmed: Int?
    /// Whether a report had no answer. That report may still arrive after newer ones, so the newest is repeated once,
    /// later.
    package var isInDoubt = false

    init(_ snapshot: ActivitySnapshot) {
        eventKey = snapshot.eventKey
        attributesType = snapshot.attributesType
        state = snapshot.state
        updateToken = snapshot.updateToken
        channelID = snapshot.channelID
    }

    /// Takes over a snapshot. A known token or channel stays if the snapshot has none, because the server keeps them,
    /// too.
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

    /// Whether it must be reported. A scheduled activity is not reported, because that would confirm a start.
    package var isDue: Bool { state != .pending && confirmed != version }

    /// Whether it needs no more reports.
    var isSettled: Bool { state == .dismissed && !isDue && !isInDoubt }
}

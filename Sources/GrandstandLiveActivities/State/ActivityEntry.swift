/// What is known of an activity, and what of that the server has.
package struct ActivityEntry: Codable, Sendable, Hashable {
    package var eventKey: String
    package var attributesType: String
    package var state: ActivityPhase
    package var updateToken: String?
    package var channelID: String?
    /// Of the audience whose updates it gets, where that is known and has one.
    package var variant: String?
    /// Rises with each change.
    package var version = 1
    /// The version that the server has; `nil`: none.
    package var confirmed: Int?
    /// A report of it went unanswered, so an old one may still arrive after newer ones: it is repeated once, later.
    package var isInDoubt = false

    init(_ snapshot: ActivitySnapshot) {
        eventKey = snapshot.eventKey
        attributesType = snapshot.attributesType
        state = snapshot.state
        updateToken = snapshot.updateToken
        channelID = snapshot.channelID
    }

    /// What a snapshot says; a token and a channel that are known stay, as the server keeps them.
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

    /// Whether the server has yet to be told. Of what is only scheduled it is told nothing: that would confirm a start.
    package var isDue: Bool { state != .pending && confirmed != version }

    /// Whether nothing will be said of it any more.
    var isSettled: Bool { state == .dismissed && !isDue && !isInDoubt }
}

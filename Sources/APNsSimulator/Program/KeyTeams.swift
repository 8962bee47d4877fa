/// Which team each provider key belongs to; a `.p8` file does not say.
package struct KeyTeams: Sendable, Hashable {
    /// The team of keys that are not named.
    package var other: String
    /// The teams of those that are.
    package var byKeyID: [String: String]

    /// Names teams; without any, all keys are the simulator's own team's.
    package init(other: String = SimulatorIdentity.teamID, byKeyID: [String: String] = [:]) {
        self.other = other
        self.byKeyID = byKeyID
    }

    /// Reads a list of `KEYID=TEAM`, or a bare `TEAM` for all keys that are not named; the last of a kind counts.
    ///
    /// - Throws: for an empty key id or team.
    package init(parsing list: [String]) throws(SimulatorError) {
        self.init()
        for text in list {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.allSatisfy({ !$0.isEmpty }) else {
                throw SimulatorError("\"\(text)\" names no team: write KEYID=TEAM, or TEAM alone for all other keys.")
            }
            if parts.count == 2 { byKeyID[parts[0]] = parts[1] } else { other = parts[0] }
        }
    }

    subscript(keyID: String) -> String { byKeyID[keyID] ?? other }
}

/// The provider the simulator makes for itself.
package enum SimulatorIdentity {
    /// The name of its key: the `kid` of its tokens.
    package static let keyID = "SIMULATOR1"
    /// The `iss` of its tokens.
    package static let teamID = "SIMULATOR1"
}

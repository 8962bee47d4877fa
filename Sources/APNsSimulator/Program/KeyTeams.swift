/// The team of each provider key, because a `.p8` file does not contain it.
package struct KeyTeams: Sendable, Hashable {
    /// The team of all keys that are not in `byKeyID`.
    package var other: String
    /// The teams by key ID.
    package var byKeyID: [String: String]

    /// Sets teams. Without arguments, all keys belong to the simulator's own team.
    package init(other: String = SimulatorIdentity.teamID, byKeyID: [String: String] = [:]) {
        self.other = other
        self.byKeyID = byKeyID
    }

    /// Parses a list of `KEYID=TEAM`; a bare `TEAM` is for all other keys. If an entry occurs twice, the last one
    /// counts.
    ///
    /// - Throws: if a key ID or team is empty.
    package init(parsing list: [String]) throws(SimulatorError) {
        self.init()
        for text in list {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.allSatisfy({ !$0.isEmpty }) else {
                throw SimulatorError("\"\(text)\" is not a team: write KEYID=TEAM, or TEAM alone for all other keys.")
            }
            if parts.count == 2 { byKeyID[parts[0]] = parts[1] } else { other = parts[0] }
        }
    }

    subscript(keyID: String) -> String { byKeyID[keyID] ?? other }
}

/// The provider that the simulator creates for itself.
package enum SimulatorIdentity {
    /// The ID of the simulator's own key: the `kid` of its tokens.
    package static let keyID = "SIMULATOR1"
    /// The simulator's own team: the `iss` of its tokens.
    package static let teamID = "SIMULATOR1"
}

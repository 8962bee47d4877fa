/// The signer: Apple's ten-character team ID and the ID of one of the team's keys.
package struct Credentials: Sendable, Hashable {
    package var teamID: String
    package var keyID: String

    package init(teamID: String, keyID: String) {
        self.teamID = teamID
        self.keyID = keyID
    }
}

/// Whether the key file of an app's environment can sign, and whether APNs accepts its tokens.
package enum KeyFileState: Sendable, Hashable {
    case ok
    case missing
    case unreadable
    /// The file can sign, but APNs refuses its provider tokens.
    case refused(KeyRefusal)
}

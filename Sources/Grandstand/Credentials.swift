/// The signer: Apple's ten-character team ID and the ID of one of the team's keys.
package struct Credentials: Sendable, Hashable, Decodable {
    package var teamID: String
    package var keyID: String

    package init(teamID: String, keyID: String) {
        self.teamID = teamID
        self.keyID = keyID
    }
}

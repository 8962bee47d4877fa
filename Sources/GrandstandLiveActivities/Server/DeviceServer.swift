package import Foundation
package import GrandstandClient

/// The server as a phone needs it. Nothing is thrown: an answer that did not come is an outcome like others.
package protocol DeviceServer: Sendable {
    /// Makes a request once.
    func perform(_ request: DeviceRequest, as credential: InstallationCredential) async -> DeviceOutcome
    /// Where an event's updates come from, and its newest content.
    ///
    /// - Parameter variant: `nil`: the server's choice.
    func lookup(_ eventKey: String, variant: String?) async -> LookupOutcome
}

/// What a lookup came to.
package enum LookupOutcome: Sendable, Hashable {
    /// - Parameters:
    ///   - channelID: `nil`: the event's activities are updated by tokens.
    ///   - contentState: the newest, as JSON; `nil`: there is none yet.
    ///   - variant: that of the audience that was found; `nil`: it has none.
    ///   - variants: all that the event has for the app.
    case found(channelID: String?, contentState: Data?, variant: String? = nil, variants: [String] = [])
    case refused(ServerProblem)
    case unanswered(String)
}

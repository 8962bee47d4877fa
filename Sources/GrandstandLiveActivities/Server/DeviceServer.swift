package import Foundation
package import GrandstandClient

/// The server's calls for a phone. They throw nothing: a missing answer is one of the outcomes.
package protocol DeviceServer: Sendable {
    /// Makes a request once.
    func perform(_ request: DeviceRequest, as credential: InstallationCredential) async -> DeviceOutcome
    /// Asks for the source of an event's updates, and its newest content.
    ///
    /// - Parameter variant: `nil`: the server's choice.
    func lookup(_ eventKey: String, variant: String?) async -> LookupOutcome
}

/// The outcome of a lookup.
package enum LookupOutcome: Sendable, Hashable {
    /// - Parameters:
    ///   - channelID: `nil`: the event's activities are updated by token.
    ///   - contentState: the newest content as JSON; `nil`: there is none yet.
    ///   - variant: the variant of the audience; `nil`: it has none.
    ///   - variants: all variants that the event has for the app.
    case found(channelID: String?, contentState: Data?, variant: String? = nil, variants: [String] = [])
    case refused(ServerProblem)
    case unanswered(String)
}

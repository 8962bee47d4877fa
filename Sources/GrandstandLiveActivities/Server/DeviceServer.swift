package import Foundation
package import GrandstandClient

/// The requests that a phone makes to the server. The methods throw nothing: a missing answer is one of the outcomes.
package protocol DeviceServer: Sendable {
    /// Makes a request once.
    func perform(_ request: DeviceRequest, as credential: InstallationCredential) async -> DeviceOutcome
    /// Asks whether an event's updates arrive on a channel or by token, and for the newest content.
    ///
    /// - Parameter variant: `nil`: the server chooses the variant.
    func lookup(_ eventKey: String, variant: String?) async -> LookupOutcome
}

/// The outcome of a lookup.
package enum LookupOutcome: Sendable, Hashable {
    /// - Parameters:
    ///   - channelID: `nil`: the event's activities are updated by token.
    ///   - contentState: the newest content as JSON; `nil`: there is no content yet.
    ///   - variant: the variant of the audience; `nil`: the audience has no variant.
    ///   - variants: all variants that the event has for the app.
    case found(channelID: String?, contentState: Data?, variant: String? = nil, variants: [String] = [])
    case refused(ServerProblem)
    case unanswered(String)
}

package import GrandstandClient

package typealias InstallationIdentity = GrandstandClient.InstallationIdentity
package typealias Lookup = GrandstandClient.Lookup

/// The requests that a phone makes to the server.
package protocol DeviceServer: Sendable {
    /// Makes a request once.
    ///
    /// - Returns: whether the server did not know the installation before.
    /// - Throws: `ServerProblem` if the server refused the request. After any other error no answer came: the server may
    ///   have processed the request, or may still process it.
    func perform(_ request: DeviceRequest, as identity: InstallationIdentity) async throws -> Bool
    /// Asks whether an event's updates arrive on a channel or by token, and for the newest content.
    ///
    /// - Parameter variant: `nil`: the server chooses the variant.
    /// - Throws: `ServerProblem`, or another error if no answer came.
    func lookup(_ eventKey: String, variant: String?) async throws -> Lookup
}

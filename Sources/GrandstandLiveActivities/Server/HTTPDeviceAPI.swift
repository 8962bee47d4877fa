package import GrandstandClient

/// The server over HTTP, for one app in one environment. `HTTPDeviceAPI` makes each request once. `UploadPlanner`
/// decides about repetitions, because `UploadPlanner` knows whether a request is still up to date.
package struct HTTPDeviceAPI: DeviceAPI {
    private let client: GrandstandClient
    private let app: GrandstandClient.AppEnvironment

    /// - Parameter client: must not repeat requests itself (`RetryPolicy.never`).
    package init(client: GrandstandClient, app: GrandstandClient.AppEnvironment) {
        self.client = client
        self.app = app
    }

    package func perform(_ request: DeviceRequest, as identity: InstallationIdentity) async throws -> Bool {
        let answer =
            switch request {
            case .register(let facts): try await client.exchange(.putInstallation(identity, facts))
            case .report(let activity):
                try await client.exchange(.putActivity(activity.id, of: identity, activity.draft))
            case .forget: try await client.exchange(.forgetInstallation(identity))
            }
        var isAccepted = (200..<300).contains(answer.status)
        if isAccepted, case .register = request {
            // A captive portal may answer 200, too.
            let body = try? RawJSON(json: answer.body).decode(GrandstandClient.Registered.self)
            isAccepted = body != nil
        }
        guard isAccepted else { throw ServerProblem(answer) }
        return answer.status == 201
    }

    package func lookup(_ eventKey: String, variant: String?) async throws -> Lookup {
        let found = try await client.lookup(eventKey, in: app, variant: variant, contentState: true, patience: .zero)
        var lookup = found.value
        // The content of a `stale` answer is not used. Such an answer comes from the client's cache, because the server
        // cannot be asked, and the app's own content is newer.
        if found.origin == .stale { lookup.contentState = nil }
        return lookup
    }
}

extension DeviceActivity {
    fileprivate var draft: GrandstandClient.ActivityDraft {
        .init(
            eventKey: eventKey, attributesType: attributesType, state: .init(rawValue: state.rawValue),
            updateToken: updateToken, channelId: channelID, variant: variant)
    }
}

package typealias InstallationIdentity = GrandstandClient.InstallationIdentity
package typealias Lookup = GrandstandClient.Lookup

/// The requests that a phone makes to the server.
package protocol DeviceAPI: Sendable {
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

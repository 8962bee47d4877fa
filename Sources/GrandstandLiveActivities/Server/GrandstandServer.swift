internal import Foundation
package import GrandstandClient

/// The server over HTTP, for one app in one environment. `GrandstandServer` makes each request once. `Courier` decides
/// about repetitions, because `Courier` knows whether a request is still up to date.
package struct GrandstandServer: DeviceServer {
    private let client: GrandstandClient
    private let app: GrandstandClient.AppEnvironment

    /// - Parameter client: must not repeat requests itself (`RetryPolicy.never`).
    package init(client: GrandstandClient, app: GrandstandClient.AppEnvironment) {
        self.client = client
        self.app = app
    }

    package func perform(_ request: DeviceRequest, as credential: InstallationCredential) async -> DeviceOutcome {
        let identity = GrandstandClient.InstallationIdentity(
            app: app, installationId: credential.installation.uuidString.lowercased(), secret: credential.secret)
        do {
            let answer =
                switch request {
                case .register(let sequence, let facts):
                    try await client.exchange(.putInstallation(identity, facts.draft(sequence: sequence)))
                case .report(let id, let entry):
                    try await client.exchange(.putActivity(id, of: identity, entry.draft))
                case .forget:
                    try await client.exchange(.forgetInstallation(identity))
                }
            guard (200..<300).contains(answer.status) else { return .refused(ServerProblem(answer)) }
            let registered = try? RawJSON(json: answer.body).decode(GrandstandClient.Registered.self)
            if case .register = request, registered == nil { return .unanswered("an answer that is not Grandstand's") }
            return .accepted(isNew: answer.status == 201)
        } catch {
            return .unanswered("\(error)")
        }
    }

    package func lookup(_ eventKey: String, variant: String?) async -> LookupOutcome {
        do {
            let found = try await client.lookup(
                eventKey, in: app, variant: variant, contentState: true, patience: .zero)
            // The content of a `stale` answer is not used. Such an answer comes from the client's cache, because the
            // server cannot be asked, and the app's own content is newer.
            return .found(
                channelID: found.channelId, contentState: found.origin == .stale ? nil : found.contentState?.bytes,
                variant: found.variant, variants: found.variants ?? [])
        } catch let problem as ServerProblem {
            return .refused(problem)
        } catch {
            return .unanswered("\(error)")
        }
    }
}

extension InstallationFacts {
    fileprivate func draft(sequence: Int) -> GrandstandClient.InstallationDraft {
        .init(
            sequence: sequence, systemVersion: systemVersion ?? "0", appVersion: appVersion, locale: locale,
            variant: variant, timeZone: timeZone, liveActivitiesEnabled: liveActivitiesEnabled,
            frequentPushesEnabled: frequentPushesEnabled,
            startTokens: startTokens.sorted { $0.key < $1.key }.map { .init(attributesType: $0.key, token: $0.value) },
            topics: topics)
    }
}

extension ActivityEntry {
    fileprivate var draft: GrandstandClient.ActivityDraft {
        .init(
            eventKey: eventKey, attributesType: attributesType, state: .init(rawValue: state.rawValue),
            updateToken: updateToken, channelId: channelID, variant: variant)
    }
}

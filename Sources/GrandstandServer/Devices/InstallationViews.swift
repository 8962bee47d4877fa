internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

extension Contract.Registered {
    /// The answer to a registration.
    init(_ id: UUID) { self.init(installationId: id.words) }
}

extension Contract.Installation {
    /// The answer to an installation that reads its own registration.
    init(_ id: UUID, _ known: KnownInstallation) {
        let state = known.state
        self.init(
            installationId: id.words, sequence: state.sequence, systemVersion: state.systemVersion.description,
            appVersion: state.appVersion,
            locale: state.locale, variant: state.variant?.rawValue, timeZone: state.timeZone,
            liveActivitiesEnabled: state.liveActivitiesEnabled, frequentPushesEnabled: state.frequentPushesEnabled,
            startTokens: state.startTokens.sorted { $0.key < $1.key }.map { type, token in
                Contract.StartToken(
                    attributesType: type, token: token.description, suspect: known.suspectTypes.contains(type))
            },
            topics: state.topics.sorted().map(\.rawValue), activities: known.activities.map(Contract.Activity.init))
    }
}

extension Contract.Activity {
    init(_ activity: DeviceActivity) {
        self.init(
            activityId: activity.id, eventKey: activity.eventKey.rawValue, attributesType: activity.attributesType,
            state: .init(activity.state), updateToken: activity.updateToken?.description,
            channelId: activity.channelID)
    }
}

extension Contract.InstallationStatistics {
    init(_ statistics: InstallationStatistics) {
        self.init(
            installations: statistics.installations,
            systems: Dictionary(uniqueKeysWithValues: statistics.systems.map { (String($0.key), $0.value) }),
            locales: statistics.locales, liveActivitiesDisabled: statistics.liveActivitiesDisabled,
            frequentPushesDisabled: statistics.frequentPushesDisabled,
            startTokens: statistics.startTokens.mapValues(Contract.RegisteredTokens.init),
            updateTokens: .init(statistics.updateTokens))
    }
}

extension Contract.RegisteredTokens {
    init(_ tokens: InstallationStatistics.Tokens) { self.init(active: tokens.active, suspect: tokens.suspect) }
}

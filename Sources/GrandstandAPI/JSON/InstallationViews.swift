internal import FoundationEssentials
package import Grandstand
package import JSON

/// The answer to a registration.
struct RegisteredView: JSONObjectWritable {
    let id: UUID
    let sampling: ReceiptSampling

    func write(members object: inout JSONWriter) {
        object.member("installationId", id)
        object.member("receipts", raw: Array("\(sampling.share)".utf8))
        object.member("sampled", sampling.includes(id))
    }
}

/// An installation as its own app is shown it.
struct InstallationView: JSONObjectWritable {
    let id: UUID
    let known: KnownInstallation
    let sampling: ReceiptSampling

    func write(members object: inout JSONWriter) {
        let state = known.state
        RegisteredView(id: id, sampling: sampling).write(members: &object)
        object.member("sequence", state.sequence)
        object.member("systemVersion", state.systemVersion.description)
        object.member("appVersion", state.appVersion)
        object.member("locale", state.locale)
        object.member("timeZone", state.timeZone)
        object.member("liveActivitiesEnabled", state.liveActivitiesEnabled)
        object.member("frequentPushesEnabled", state.frequentPushesEnabled)
        object.objects("startTokens", state.startTokens.sorted { $0.key < $1.key }) { object, entry in
            object.member("attributesType", entry.key)
            object.member("token", entry.value.description)
            object.member("suspect", known.suspectTypes.contains(entry.key))
        }
        object.member("topics", state.topics.sorted().map(\.rawValue))
        object.member("activities", known.activities)
    }
}

extension DeviceActivity: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("activityId", id)
        object.member("eventKey", eventKey.rawValue)
        object.member("attributesType", attributesType)
        object.member("state", state.rawValue)
        object.member("updateToken", updateToken?.description)
        object.member("channelId", channelID)
    }
}

extension InstallationStatistics: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("installations", installations)
        object.member("systems", counts: systems.sorted { $0.key < $1.key }.map { (String($0.key), $0.value) })
        object.member("locales", counts: Self.mostFirst(locales))
        object.member("liveActivitiesDisabled", liveActivitiesDisabled)
        object.member("frequentPushesDisabled", frequentPushesDisabled)
        object.object("startTokens") { writer in
            for (type, tokens) in startTokens.sorted(by: { $0.key < $1.key }) {
                writer.name(dynamic: type)
                tokens.write(to: &writer)
            }
        }
        object.member("updateTokens", updateTokens)
    }

    private static func mostFirst(_ counts: [String: Int]) -> [(String, Int)] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }
}

extension InstallationStatistics.Tokens: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("active", active)
        object.member("suspect", suspect)
    }
}

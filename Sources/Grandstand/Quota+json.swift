internal import APNsWire
internal import FoundationEssentials

/// The JSON form stands here, not with the API's other views: messages to webhooks have it, too.
extension Quota: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("bundleId", bundleID.rawValue)
        object.member("environment", environment.rawValue)
        object.member("limit", limit)
        object.member("used", used)
        object.member("reserved", reserved)
        object.member("available", available)
        object.member(
            "byState",
            counts: Channel.State.allCases.compactMap { state in byState[state].map { (state.rawValue, $0) } })
        object.member(
            "byStoragePolicy", counts: StoragePolicy.allCases.map { ($0.rawValue, byStoragePolicy[$0, default: 0]) }
        )
        object.name("apple")
        if let apple {
            object.object { listed in
                listed.member("count", apple.count)
                listed.member("at", apple.at)
            }
        } else {
            object.null()
        }
        object.member("unmanaged", unmanaged)
        object.member("missing", missing)
        object.object("forecast") { writer in
            writer.member("peak", forecast.peak)
            writer.member("peakAt", forecast.peakAt)
            writer.member("exceedsAt", forecast.exceedsAt)
        }
        object.member("level", level.rawValue)
        object.member("alarm", alarm?.rawValue)
        object.member("tokensRefused", tokensRefused)
        object.member("shrunkCalendars", shrunkCalendars)
    }
}

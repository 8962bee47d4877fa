internal import APNsWire
internal import FoundationEssentials
package import JSON

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
        object.member("keyRefused", keyRefused)
        object.member("throttled", throttles.first { $0.api == .broadcast })
        object.member("devicesThrottled", throttles.first { $0.api == .device })
    }
}

extension Throttle: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("since", since)
        object.member("ratePerSecond", raw: Array("\(tenths(perSecond))".utf8))
        object.member("lanesWaiting", lanesWaiting)
        object.member("oldestSeconds", raw: Array("\(tenths(oldestSeconds))".utf8))
    }

    private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    /// What a page says of it.
    package var sentence: String {
        let subject = api == .broadcast ? "APNs throttles this app" : "APNs throttles this app's pushes to devices"
        let rate = perSecond >= 10 ? "\(Int(perSecond.rounded()))" : "\(tenths(perSecond))"
        guard lanesWaiting > 0 else { return "\(subject): \(rate) messages a second; nothing waits." }
        let waiting = lanesWaiting == 1 ? "1 lane waits" : "\(lanesWaiting) lanes wait"
        return "\(subject): \(rate) messages a second; \(waiting), the oldest for \(tenths(oldestSeconds)) s."
    }
}

extension Quota.KeyRefused: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("teamId", credentials.teamID)
        object.member("keyId", credentials.keyID)
        object.member("reason", refusal.reason.text)
        object.member("since", refusal.since)
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import JSON

/// Devices and lock screens as the control API shows them; docs/simulator.md describes them.
extension Device {
    func write(members object: inout JSONWriter, at now: Date, tokens: [String: Devices.Address]) {
        object.member("id", id)
        object.member("environment", environment.rawValue)
        object.member("system", system)
        object.member("online", isOnline)
        object.member("pushToStartTokens", startTokens)
        object.objects("lockScreen", lockScreen(at: now)) { $1.write(members: &$0, at: now) }
        object.objects("activities", activities) { $1.write(members: &$0, at: now) }
        object.member("goneTokens", tokens.filter { $0.value.device == id && $0.value.gone != nil }.map(\.key).sorted())
        object.objects("events", events.elements) { object, event in
            object.member("time", event.time.seconds)
            object.member("text", event.text)
        }
    }

    /// The lock screen alone.
    func writeLockScreen(members object: inout JSONWriter, at now: Date) {
        object.member("device", id)
        object.member("online", isOnline)
        object.objects("activities", lockScreen(at: now)) { $1.write(members: &$0, at: now) }
    }
}

extension Activity {
    func write(members object: inout JSONWriter, at now: Date) {
        object.member("number", number)
        object.member("bundleId", app)
        object.member("attributesType", attributesType)
        object.member("state", state(at: now).rawValue)
        object.member("contentState", raw: contentState)
        object.member("attributes", raw: attributes)
        object.member("timestamp", timestamp)
        if let alert { object.member("alert", raw: alert) }
        if let channelID { object.member("channelId", channelID) }
        if let updateToken { object.member("updateToken", updateToken) }
        if let relevance { object.member("relevanceScore", relevance) }
        object.member("startedAt", startedAt.seconds)
        if let staleDate { object.member("staleDate", staleDate.seconds) }
        if let endedAt { object.member("endedAt", endedAt.seconds) }
        if let dismissalDate { object.member("dismissalDate", dismissalDate.seconds) }
        object.member("applied", applied)
    }

    /// One line for people.
    func line(at now: Date) -> String {
        let text = String(decoding: contentState, as: UTF8.self).replacing("\n", with: " ")
        return "\(app) \(attributesType) #\(number) \(state(at: now).rawValue) \(text)"
    }
}

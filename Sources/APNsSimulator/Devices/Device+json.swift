internal import APNsWire
internal import FoundationEssentials

/// Devices and lock screens as the control API shows them; docs/simulator.md describes them.
extension Device {
    func json(at now: Date, tokens: [String: Devices.Address]) -> JSONValue {
        [
            "id": .string(id), "environment": .string(environment.rawValue), "system": .integer(system),
            "online": .bool(isOnline),
            "pushToStartTokens": .object(
                startTokens.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .string($0.value)) }),
            "lockScreen": .array(lockScreen(at: now).map { $0.json(at: now) }),
            "activities": .array(activities.map { $0.json(at: now) }),
            "goneTokens": .strings(
                tokens.filter { $0.value.device == id && $0.value.gone != nil }.map(\.key).sorted()),
            "events": .array(
                events.elements.map {
                    ["time": .seconds($0.time.timeIntervalSince1970), "text": .string($0.text)]
                }),
        ]
    }

    /// The lock screen alone.
    func lockScreenJSON(at now: Date) -> JSONValue {
        [
            "device": .string(id), "online": .bool(isOnline),
            "activities": .array(lockScreen(at: now).map { $0.json(at: now) }),
        ]
    }
}

extension Activity {
    func json(at now: Date) -> JSONValue {
        .members([
            "number": .integer(number), "bundleId": .string(app), "attributesType": .string(attributesType),
            "state": .string(state(at: now).rawValue), "contentState": .raw(contentState),
            "attributes": .raw(attributes), "timestamp": .integer(timestamp), "alert": alert.map { .raw($0) },
            "channelId": channelID.map { .string($0) }, "updateToken": updateToken.map { .string($0) },
            "relevanceScore": relevance.map { .number(String($0)) },
            "startedAt": .seconds(startedAt.timeIntervalSince1970),
            "staleDate": staleDate.map { .seconds($0.timeIntervalSince1970) },
            "endedAt": endedAt.map { .seconds($0.timeIntervalSince1970) },
            "dismissalDate": dismissalDate.map { .seconds($0.timeIntervalSince1970) },
            "applied": .integer(applied),
        ])
    }

    /// One line for people.
    func line(at now: Date) -> String {
        let text = String(decoding: contentState, as: UTF8.self).replacing("\n", with: " ")
        return "\(app) \(attributesType) #\(number) \(state(at: now).rawValue) \(text)"
    }
}

internal import APNsWire
internal import FoundationEssentials

/// The state that survives a restart, as one JSON text: apps, channels, stored messages, phones. The journal, faults,
/// quirks and connections are not stored.
enum Snapshot {
    /// Increased when an older simulator cannot read the text.
    static let version = 1

    static func text(of state: SimulatorState) -> [UInt8] {
        let keys = Set(state.apps.keys).union(state.owners.keys).union(state.limits.keys)
        let value: JSONValue = [
            "version": .integer(version),
            "apps": .array(
                keys.sorted { ($0.name, $0.environment) < ($1.name, $1.environment) }.map { app($0, state) }),
            "capabilityOff": .strings(state.capabilityOff.sorted()),
            "devices": .array(state.devices.sorted.map { device($0) }),
            "goneTokens": .array(
                state.devices.tokens.sorted { $0.key < $1.key }.compactMap { token, address in
                    address.gone.map { gone(token, $0) }
                }),
        ]
        return value.text
    }

    private static func app(_ key: SimulatorState.AppKey, _ state: SimulatorState) -> JSONValue {
        .members([
            "bundleId": .string(key.name), "environment": .string(key.environment.rawValue),
            "team": state.owners[key].map { .string($0) }, "channelLimit": state.limits[key].map { .integer($0) },
            "channels": .array((state.apps[key]?.sorted ?? []).map { channel($0) }),
            "deleted": .strings(state.apps[key]?.deletedIDs ?? []),
        ])
    }

    private static func channel(_ channel: SimulatedChannel) -> JSONValue {
        .members([
            "id": .string(channel.id), "policy": .integer(channel.storagePolicy.wireValue),
            "createdAt": .seconds(channel.createdAt.timeIntervalSince1970), "broadcasts": .integer(channel.broadcasts),
            "stored": channel.stored.map {
                [
                    "body": bytes($0.body), "storedAt": .seconds($0.storedAt.timeIntervalSince1970),
                    "expiresAt": .seconds($0.expiresAt.timeIntervalSince1970), "uniqueId": .string($0.uniqueID),
                ]
            },
        ])
    }

    private static func device(_ device: Device) -> JSONValue {
        [
            "id": .string(device.id), "environment": .string(device.environment.rawValue),
            "system": .integer(device.system), "online": .bool(device.isOnline),
            "startTokens": .object(
                device.startTokens.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .string($0.value)) }),
            "activities": .array(device.activities.map { activity($0) }),
            "waiting": .array(
                device.waiting.sorted { $0.key < $1.key }.map { app, push in
                    [
                        "bundleId": .string(app), "token": .string(push.token), "body": bytes(push.body),
                        "expiresAt": .seconds(push.expiresAt.timeIntervalSince1970),
                    ]
                }),
        ]
    }

    private static func activity(_ activity: Activity) -> JSONValue {
        .members([
            "number": .integer(activity.number), "bundleId": .string(activity.app),
            "attributesType": .string(activity.attributesType), "attributes": bytes(activity.attributes),
            "contentState": bytes(activity.contentState), "timestamp": .integer(activity.timestamp),
            "startedAt": .seconds(activity.startedAt.timeIntervalSince1970),
            "channelId": activity.channelID.map { .string($0) },
            "updateToken": activity.updateToken.map { .string($0) }, "alert": activity.alert.map { bytes($0) },
            "staleDate": activity.staleDate.map { .seconds($0.timeIntervalSince1970) },
            "relevance": activity.relevance.map { .number(String($0)) },
            "endedAt": activity.endedAt.map { .seconds($0.timeIntervalSince1970) },
            "dismissalDate": activity.dismissalDate.map { .seconds($0.timeIntervalSince1970) },
            "removed": .bool(activity.isRemoved), "applied": .integer(activity.applied),
        ])
    }

    private static func gone(_ token: String, _ gone: Devices.Address.Gone) -> JSONValue {
        [
            "token": .string(token), "reason": .string(gone.reason.rawValue),
            "since": .seconds(gone.since.timeIntervalSince1970),
        ]
    }

    /// The bytes as a JSON string. All stored bytes are valid UTF-8, because they were checked when received.
    private static func bytes(_ bytes: [UInt8]) -> JSONValue { .string(String(decoding: bytes, as: UTF8.self)) }
}

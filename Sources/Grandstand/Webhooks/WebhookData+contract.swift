internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import JSON

extension Contract.BroadcastSettled {
    init(_ settled: SettledBroadcast) {
        self.init(
            id: settled.id.words, eventKey: settled.eventKey?.rawValue, channel: settled.channel?.words,
            event: .init(settled.event), state: .init(settled.state), acceptedAt: settled.acceptedAt,
            settledAt: settled.settledAt,
            counts: Dictionary(uniqueKeysWithValues: settled.counts.map { ($0.key.rawValue, $0.value) }),
            reasons: Dictionary(settled.reasons.map { ($0.reason, $0.count) }) { $0 + $1 })
    }
}

extension Contract.ChannelLost {
    init(_ channel: Channel) {
        self.init(
            id: channel.id.words, channelId: channel.channelID, bundleId: channel.bundleID.rawValue,
            environment: .init(channel.environment), variant: channel.variant?.rawValue,
            storagePolicy: .init(channel.storagePolicy), eventKey: channel.eventKey?.rawValue,
            reason: channel.reason)
    }
}

extension Contract.ChannelReplaced {
    init(_ channel: Channel, replacing replaced: (id: UUID, channelID: String?)) {
        self.init(
            id: channel.id.words, channelId: channel.channelID, bundleId: channel.bundleID.rawValue,
            environment: .init(channel.environment), variant: channel.variant?.rawValue,
            storagePolicy: .init(channel.storagePolicy), eventKey: channel.eventKey?.rawValue,
            replaced: .init(id: replaced.id.words, channelId: replaced.channelID))
    }
}

// The following initialisers read notes from the database. They return `nil` if a note lacks something.

extension Contract.EventStateChanged {
    init?(_ note: JSONValue) {
        guard let key = note["event_key"]?.string, let state = note["state"]?.string else { return nil }
        self.init(eventKey: key, state: .init(rawValue: state), by: note["by"]?.string)
    }
}

extension Contract.QuotaLevelChanged {
    init?(_ note: JSONValue) {
        guard let json = note["quota"], let quota = try? json.decode(Contract.Quota.self) else { return nil }
        self.init(
            bundleId: quota.bundleId, environment: quota.environment, level: quota.level,
            previousLevel: note["previousLevel"]?.string.map { Contract.QuotaLevel(rawValue: $0) }, limit: quota.limit,
            used: quota.used, reserved: quota.reserved, available: quota.available, unmanaged: quota.unmanaged)
    }
}

extension Contract.CapabilityOff {
    init?(_ note: JSONValue) {
        guard let bundleID = note["bundle_id"]?.string, let environment = note["environment"]?.string else {
            return nil
        }
        self.init(
            bundleId: bundleID, environment: .init(rawValue: environment),
            evidence: note["evidence"]?.string ?? "Apple's list has none of the channels that are known here")
    }
}

extension Contract.ThrottleEnded {
    init?(_ note: JSONValue) {
        guard let bundleID = note["bundle_id"]?.string, let environment = note["environment"]?.string,
            let api = note["api"]?.string, let since = note["since"]?.string.flatMap(RFC3339.date)
        else { return nil }
        self.init(
            bundleId: bundleID, environment: .init(rawValue: environment), api: .init(rawValue: api), since: since)
    }
}

extension Contract.ThrottleBegan {
    init?(_ note: JSONValue) {
        guard let end = Contract.ThrottleEnded(note) else { return nil }
        self.init(bundleId: end.bundleId, environment: end.environment, api: end.api, since: end.since)
    }
}

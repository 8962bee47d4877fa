/// The bodies of a shard's pushes: one for each form and language there is among its members, not one for each member.
struct StartBodies: Sendable {
    private struct Key: Hashable {
        let form: StartForm
        let locale: String?
    }

    private let byKey: [Key: [UInt8]]

    init(_ shard: StartShard) {
        var bodies: [Key: [UInt8]] = [:]
        var payload = shard.payload
        for member in shard.members {
            let key = Key(form: member.form, locale: member.locale)
            guard bodies[key] == nil else { continue }
            payload.alert = member.locale.flatMap(shard.alerts.value) ?? shard.payload.alert
            bodies[key] = payload.body(timestamp: shard.timestamp, input: shard.input(for: member.form))
        }
        byKey = bodies
    }

    func body(for member: StartShard.Member) -> [UInt8] {
        byKey[Key(form: member.form, locale: member.locale)] ?? []
    }
}

extension StartShard {
    /// The key beside `attributes-type` that says how updates come.
    func input(for form: StartForm) -> StartPayload.Input {
        switch form {
        case .channel: channelID.map(StartPayload.Input.channel) ?? .token
        case .token: .token
        case .plain, .ineligible: .none
        }
    }
}

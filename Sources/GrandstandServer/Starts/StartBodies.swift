internal import Grandstand

/// The bodies of a shard's pushes: one for each audience, form and language of its members, not one for each member.
struct StartBodies: Sendable {
    private struct Key: Hashable {
        let push: Int
        let form: StartForm
        let locale: String?

        init(_ member: StartShard.Member) {
            push = member.push
            form = member.form
            locale = member.locale
        }
    }

    private let byKey: [Key: [UInt8]]

    init(_ shard: StartShard) {
        var bodies: [Key: [UInt8]] = [:]
        for member in shard.members {
            let key = Key(member)
            guard bodies[key] == nil else { continue }
            let push = shard.pushes[member.push]
            var payload = push.payload
            payload.alert = member.locale.flatMap(shard.alerts.value) ?? payload.alert
            bodies[key] = payload.body(timestamp: push.timestamp, input: push.input(for: member.form))
        }
        byKey = bodies
    }

    func body(for member: StartShard.Member) -> [UInt8] { byKey[Key(member)] ?? [] }
}

extension StartShard.Push {
    /// The key that tells the phone how updates reach the activity. The push has this key next to `attributes-type`.
    func input(for form: StartForm) -> StartPayload.Input {
        switch form {
        case .channel: channelID.map(StartPayload.Input.channel) ?? .token
        case .token: .token
        case .plain: .none
        }
    }
}

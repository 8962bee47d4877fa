internal import APNsWire
internal import FoundationEssentials
internal import JSON

/// `/apps`: the functions of Apple's console and developer portal.
extension ControlRouter {
    func apps(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        switch (request.method, request.path.count) {
        case ("GET", 1): return .ok(core.change { memory, _ in memory.apns.appsText })
        case ("PATCH", 2): return try change(request, request.path[1])
        case (_, 4...5) where request.path[3] == "channels":
            let environment = try Self.environment(request.path[2])
            let app = SimulatorState.AppKey(name: request.path[1].lowercased(), environment: environment)
            return request.path.count == 4
                ? try channels(request, app) : channel(request, .init(app: app, id: request.path[4]))
        case (_, 1...2): return Self.methodNotAllowed(request)
        default: return .failure(404, "There is no such path: GET / lists all paths.")
        }
    }

    private struct Change: Decodable {
        var broadcastCapability: Bool?
        var channelLimit: Int?
        var environment: APNsEnvironment?
    }

    private func change(_ request: ControlRequest, _ bundleID: String) throws(SimulatorError) -> ControlAnswer {
        let change: Change = try request.read()
        try SimulatorError.check(change.channelLimit, in: 0...Int.max, at: "the body.channelLimit")
        core.change { memory, _ in
            if let isOn = change.broadcastCapability { memory.apns.setBroadcastCapability(isOn, of: bundleID) }
            guard let limit = change.channelLimit else { return }
            for place in change.environment.map({ [$0] }) ?? APNsEnvironment.allCases {
                memory.apns.limits[.init(name: bundleID.lowercased(), environment: place)] = limit
            }
        }
        return .done
    }

    private struct NewChannels: Decodable {
        var storagePolicy: StoragePolicy?
        var count: Int?
    }

    private func channels(
        _ request: ControlRequest, _ app: SimulatorState.AppKey
    ) throws(SimulatorError) -> ControlAnswer {
        switch request.method {
        case "GET":
            return .ok(
                core.change { memory, now in
                    JSONWriter.text { object in
                        object.objects("channels", memory.apns.apps[app]?.sorted ?? []) {
                            $1.write(members: &$0, at: now)
                        }
                    }
                })
        case "POST":
            let new: NewChannels = try request.read()
            try SimulatorError.check(new.count, in: 1...APNsLimits.channels, at: "the body.count")
            let ids = core.change { memory, now in
                (0..<(new.count ?? 1)).map { _ in
                    memory.apns.addChannel(new.storagePolicy ?? .noMessageStored, to: app, now: now)
                }
            }
            return .created(JSONWriter.text(["channelIds": ids]))
        case "DELETE":
            core.change { memory, _ in memory.apns.vanish(app) }
            return .done
        default: return Self.methodNotAllowed(request)
        }
    }

    private func channel(_ request: ControlRequest, _ key: SimulatorState.ChannelKey) -> ControlAnswer {
        switch request.method {
        case "GET":
            let text = core.change { memory, now in
                memory.apns.apps[key.app]?.channels[key.id].map { channel in
                    JSONWriter.text { channel.write(members: &$0, at: now) }
                }
            }
            return text.map { .ok($0) } ?? .failure(404, "There is no such channel.")
        case "DELETE":
            let wasThere = core.change { memory, _ in memory.apns.deleteChannel(key) }
            return wasThere ? .done : .failure(404, "There is no such channel.")
        default: return Self.methodNotAllowed(request)
        }
    }
}

extension SimulatorState {
    fileprivate var appsText: [UInt8] {
        let keys = Set(apps.keys).union(owners.keys).union(limits.keys)
        let sorted = keys.sorted { ($0.name, $0.environment) < ($1.name, $1.environment) }
        return JSONWriter.text { object in
            object.objects("apps", sorted) { object, key in
                object.member("bundleId", key.name)
                object.member("environment", key.environment.rawValue)
                object.member("channels", apps[key]?.count ?? 0)
                object.member("channelLimit", limits[key] ?? channelLimit)
                object.member("team", owners[key])
                object.member("broadcastCapability", !capabilityOff.contains(key.name))
            }
        }
    }
}

extension SimulatedChannel {
    fileprivate func write(members object: inout JSONWriter, at now: Date) {
        object.member("channelId", id)
        object.member("storagePolicy", storagePolicy.rawValue)
        object.member("createdAt", createdAt.seconds)
        object.member("broadcasts", broadcasts)
        guard let stored, stored.expiresAt > now else { return object.member("storedMessage", raw: nil) }
        object.object("storedMessage") { object in
            object.member("body", String(decoding: stored.body, as: UTF8.self))
            object.member("storedAt", stored.storedAt.seconds)
            object.member("expiresAt", stored.expiresAt.seconds)
            object.member("uniqueId", stored.uniqueID)
        }
    }
}

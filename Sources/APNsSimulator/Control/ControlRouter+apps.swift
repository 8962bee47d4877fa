internal import APNsWire
internal import FoundationEssentials

/// `/apps`: the functions of Apple's console and developer portal.
extension ControlRouter {
    func apps(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        switch (request.method, request.path.count) {
        case ("GET", 1): return .ok(core.change { memory, _ in memory.apns.appsJSON })
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

    private func change(_ request: ControlRequest, _ bundleID: String) throws(SimulatorError) -> ControlAnswer {
        let fields = try JSONFields(
            try request.json(), at: "the body", known: ["broadcastCapability", "channelLimit", "environment"])
        let capability = try fields.bool("broadcastCapability")
        let limit = try fields.integer("channelLimit", in: 0...Int.max)
        let environment: APNsEnvironment? = try fields.choice("environment")
        core.change { memory, _ in
            if let capability { memory.apns.setBroadcastCapability(capability, of: bundleID) }
            guard let limit else { return }
            for place in environment.map({ [$0] }) ?? APNsEnvironment.allCases {
                memory.apns.limits[.init(name: bundleID.lowercased(), environment: place)] = limit
            }
        }
        return .done
    }

    private func channels(
        _ request: ControlRequest, _ app: SimulatorState.AppKey
    ) throws(SimulatorError) -> ControlAnswer {
        switch request.method {
        case "GET":
            return .ok(
                core.change { memory, now in
                    ["channels": .array((memory.apns.apps[app]?.sorted ?? []).map { $0.json(at: now) })]
                })
        case "POST":
            let fields = try JSONFields(try request.json(), at: "the body", known: ["storagePolicy", "count"])
            let policy: StoragePolicy = try fields.choice("storagePolicy") ?? .noMessageStored
            let count = try fields.integer("count", in: 1...APNsLimits.channels) ?? 1
            let ids = core.change { memory, now in
                (0..<count).map { _ in memory.apns.addChannel(policy, to: app, now: now) }
            }
            return .created(["channelIds": .strings(ids)])
        case "DELETE":
            core.change { memory, _ in memory.apns.vanish(app) }
            return .done
        default: return Self.methodNotAllowed(request)
        }
    }

    private func channel(_ request: ControlRequest, _ key: SimulatorState.ChannelKey) -> ControlAnswer {
        switch request.method {
        case "GET":
            let json = core.change { memory, now in memory.apns.apps[key.app]?.channels[key.id]?.json(at: now) }
            return json.map { .ok($0) } ?? .failure(404, "There is no such channel.")
        case "DELETE":
            let wasThere = core.change { memory, _ in memory.apns.deleteChannel(key) }
            return wasThere ? .done : .failure(404, "There is no such channel.")
        default: return Self.methodNotAllowed(request)
        }
    }
}

extension SimulatorState {
    fileprivate var appsJSON: JSONValue {
        let keys = Set(apps.keys).union(owners.keys).union(limits.keys)
        let sorted = keys.sorted { ($0.name, $0.environment) < ($1.name, $1.environment) }
        return [
            "apps": .array(
                sorted.map { key in
                    [
                        "bundleId": .string(key.name), "environment": .string(key.environment.rawValue),
                        "channels": .integer(apps[key]?.count ?? 0),
                        "channelLimit": .integer(limits[key] ?? channelLimit),
                        "team": .optional(owners[key]),
                        "broadcastCapability": .bool(!capabilityOff.contains(key.name)),
                    ]
                })
        ]
    }
}

extension SimulatedChannel {
    fileprivate func json(at now: Date) -> JSONValue {
        let kept = stored.flatMap { $0.expiresAt > now ? $0 : nil }
        return [
            "channelId": .string(id), "storagePolicy": .string(storagePolicy.rawValue),
            "createdAt": .seconds(createdAt.timeIntervalSince1970), "broadcasts": .integer(broadcasts),
            "storedMessage": kept.map {
                [
                    "body": .string(String(decoding: $0.body, as: UTF8.self)),
                    "storedAt": .seconds($0.storedAt.timeIntervalSince1970),
                    "expiresAt": .seconds($0.expiresAt.timeIntervalSince1970), "uniqueId": .string($0.uniqueID),
                ]
            } ?? .null,
        ]
    }
}

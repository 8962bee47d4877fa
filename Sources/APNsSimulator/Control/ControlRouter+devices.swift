internal import APNsWire
internal import FoundationEssentials

/// `/devices`, `/tokens` and `/lock-screens`.
extension ControlRouter {
    func devices(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        switch (request.method, request.path.count) {
        case ("GET", 1):
            return .ok(
                core.change { memory, now in
                    let devices = memory.apns.devices
                    return ["devices": .array(devices.sorted.map { $0.json(at: now, tokens: devices.tokens) })]
                })
        case ("POST", 1): return try addDevice(request)
        case (_, 2): return try device(request, request.path[1])
        case ("POST", 3) where request.path[2] == "activities": return try startActivity(request, request.path[1])
        case ("DELETE", 4) where request.path[2] == "activities":
            let id = request.path[1]
            guard let number = Int(request.path[3]),
                core.change({ memory, now in memory.apns.dismiss(activity: number, on: id, now: now) })
            else { return .failure(404, "There is no such device or activity.") }
            return .done
        case ("POST", 5) where request.path[2] == "activities" && request.path[4] == "token":
            let id = request.path[1]
            guard let number = Int(request.path[3]),
                let token = core.change({ memory, now in memory.apns.allow(activity: number, on: id, now: now) })
            else {
                return .failure(404, "There is no such activity, or it listens to a channel and so has no push token.")
            }
            return .created(["updateToken": .string(token)])
        case (_, 1...5): return Self.methodNotAllowed(request)
        default: return .failure(404, "There is no such path: GET / lists all paths.")
        }
    }

    func tokens(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        guard request.path.count == 2, request.method == "DELETE" else { return Self.methodNotAllowed(request) }
        let fields = try request.parameters(known: ["reason"], numbers: [])
        let reason = APNsReason(rawValue: try fields.string("reason") ?? APNsReason.unregistered.rawValue)
        guard reason.status == 410 else {
            throw SimulatorError("\(fields.place("reason")): Unregistered or ExpiredToken is expected.")
        }
        let token = request.path[1].lowercased()
        let wasThere = core.change { memory, now in memory.apns.retire(token: token, reason, now: now) }
        return wasThere ? .done : .failure(404, "There is no such token.")
    }

    /// Answers with all lock screens. If the query has a version in `after`, the answer waits until the version of the
    /// lock screens is higher. After `timeout` seconds, the status is 408 with the present lock screens. Changes that
    /// only time causes (a stale date or a dismissal date passes) do not change the version, so they do not end the
    /// wait.
    func lockScreens(_ request: ControlRequest) async throws(SimulatorError) -> ControlAnswer {
        guard request.path.count == 1, request.method == "GET" else { return Self.methodNotAllowed(request) }
        let fields = try request.parameters(known: ["after", "timeout"], numbers: ["after", "timeout"])
        let timeout = try fields.number("timeout", in: 0...Self.longestWait) ?? 10
        var status = 200
        if let version = try fields.integer("after", in: 0...Int.max) {
            let isNewer = await core.lockScreens(after: version, within: .seconds(timeout))
            status = isNewer ? 200 : 408
        }
        let body = core.change { memory, now -> JSONValue in
            [
                "version": .integer(memory.apns.devices.version),
                "lockScreens": .array(memory.apns.devices.sorted.map { $0.lockScreenJSON(at: now) }),
            ]
        }
        return ControlAnswer(status: status, body: body)
    }

    private func addDevice(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        let fields = try JSONFields(
            try request.json(), at: "the body", known: ["id", "environment", "system", "bundleIds"])
        let id = try fields.requiredString("id")
        guard let environment: APNsEnvironment = try fields.choice("environment") else {
            throw SimulatorError("\(fields.place("environment")): development or production is expected.")
        }
        let system = try fields.integer("system", in: 16...99) ?? 18
        let bundleIDs = try fields.strings("bundleIds") ?? []
        let made = core.change { memory, now in
            Result { () throws(SimulatorError) in
                try memory.apns.addDevice(id, in: environment, system: system, bundleIDs: bundleIDs, now: now)
                    .json(at: now, tokens: [:])
            }
        }
        return .created(try made.get())
    }

    private func device(_ request: ControlRequest, _ id: String) throws(SimulatorError) -> ControlAnswer {
        switch request.method {
        case "GET": break
        case "PATCH":
            let fields = try JSONFields(try request.json(), at: "the body", known: ["online"])
            guard let isOnline = try fields.bool("online") else {
                throw SimulatorError("\(fields.place("online")): true or false is expected.")
            }
            core.change { memory, now in _ = memory.apns.setOnline(isOnline, device: id, now: now) }
        case "DELETE":
            let wasThere = core.change { memory, _ in memory.apns.devices.remove(id) }
            return wasThere ? .done : .failure(404, "There is no device \"\(id)\".")
        default: return Self.methodNotAllowed(request)
        }
        let json = core.change { memory, now in
            let devices = memory.apns.devices
            return devices.byID[id]?.json(at: now, tokens: devices.tokens)
        }
        return json.map { .ok($0) } ?? .failure(404, "There is no device \"\(id)\".")
    }

    private func startActivity(_ request: ControlRequest, _ id: String) throws(SimulatorError) -> ControlAnswer {
        let fields = try JSONFields(
            try request.json(), at: "the body",
            known: [
                "bundleId", "attributesType", "attributes", "contentState", "channelId", "pushToken", "timestamp",
                "staleDate",
            ])
        let bundleID = try fields.requiredString("bundleId")
        let start = ActivityStart(
            bundleID: bundleID, attributesType: try fields.string("attributesType") ?? "Activity",
            attributes: (fields["attributes"] ?? [:]).text, contentState: (fields["contentState"] ?? [:]).text,
            timestamp: try fields.integer("timestamp", in: 0...Int.max) ?? 0,
            channelID: try fields.string("channelId"), wantsToken: try fields.bool("pushToken") ?? false,
            staleDate: try fields.number("staleDate", in: 0...1e12).map { Date(timeIntervalSince1970: $0) })
        let started = core.change { memory, now in
            Result { () throws(SimulatorError) in try memory.apns.startActivity(start, on: id, now: now).json(at: now) }
        }
        return .created(try started.get())
    }
}

extension SimulatorCore {
    /// Waits until some lock screen changed after `version`.
    ///
    /// - Returns: `false` if the time was over first, or the task was cancelled.
    func lockScreens(after version: Int, within limit: Duration?) async -> Bool {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let id = change { memory, _ in
            memory.apns.devices.version > version || memory.watchers.isClosed
                ? nil : memory.watchers.add(continuation)
        }
        guard let id else { return true }
        defer { change { memory, _ in memory.watchers.remove(id) } }
        let timer = limit.map { limit in
            Task {
                try? await Task.sleep(for: limit)
                continuation.finish()
            }
        }
        defer { timer?.cancel() }
        for await _ in stream {}
        return change { memory, _ in memory.apns.devices.version > version }
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import JSON

/// `/devices`, `/tokens` and `/lock-screens`.
extension ControlRouter {
    func devices(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        switch (request.method, request.path.count) {
        case ("GET", 1):
            return .ok(
                core.change { memory, now in
                    let devices = memory.apns.devices
                    return JSONWriter.text { object in
                        object.objects("devices", devices.sorted) {
                            $1.write(members: &$0, at: now, tokens: devices.tokens)
                        }
                    }
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
            return .created(JSONWriter.text(["updateToken": token]))
        case (_, 1...5): return Self.methodNotAllowed(request)
        default: return .failure(404, "There is no such path: GET / lists all paths.")
        }
    }

    func tokens(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        guard request.path.count == 2, request.method == "DELETE" else { return Self.methodNotAllowed(request) }
        struct Parameters: Decodable {
            var reason: String?
        }
        let parameters: Parameters = try request.parameters()
        let reason = APNsReason(rawValue: parameters.reason ?? APNsReason.unregistered.rawValue)
        guard reason.status == 410 else {
            throw SimulatorError("the query.reason: Unregistered or ExpiredToken is expected.")
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
        struct Parameters: Decodable {
            var after: Int?
            var timeout: Double?
        }
        let parameters: Parameters = try request.parameters(numbers: ["after", "timeout"])
        try SimulatorError.check(parameters.timeout, in: 0...Self.longestWait, at: "the query.timeout")
        var status = 200
        if let version = parameters.after {
            let isNewer = await core.lockScreens(after: version, within: .seconds(parameters.timeout ?? 10))
            status = isNewer ? 200 : 408
        }
        let body = core.change { memory, now in
            JSONWriter.text { object in
                object.member("version", memory.apns.devices.version)
                object.objects("lockScreens", memory.apns.devices.sorted) { $1.writeLockScreen(members: &$0, at: now) }
            }
        }
        return ControlAnswer(status: status, body: body)
    }

    private struct NewDevice: Decodable {
        var id: String
        var environment: APNsEnvironment
        var system: Int?
        var bundleIds: [String]?
    }

    private func addDevice(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        let new: NewDevice = try request.read()
        if new.id.isEmpty { throw SimulatorError("the body.id: a text that is not empty is expected.") }
        try SimulatorError.check(new.system, in: 16...99, at: "the body.system")
        let made = try core.change { memory, now in
            Result { () throws(SimulatorError) in
                let device = try memory.apns.addDevice(
                    new.id, in: new.environment, system: new.system ?? 18, bundleIDs: new.bundleIds ?? [], now: now)
                return JSONWriter.text { device.write(members: &$0, at: now, tokens: [:]) }
            }
        }.get()
        return .created(made)
    }

    private func device(_ request: ControlRequest, _ id: String) throws(SimulatorError) -> ControlAnswer {
        switch request.method {
        case "GET": break
        case "PATCH":
            struct Change: Decodable {
                var online: Bool
            }
            let change: Change = try request.read()
            core.change { memory, now in _ = memory.apns.setOnline(change.online, device: id, now: now) }
        case "DELETE":
            let wasThere = core.change { memory, _ in memory.apns.devices.remove(id) }
            return wasThere ? .done : .failure(404, "There is no device \"\(id)\".")
        default: return Self.methodNotAllowed(request)
        }
        let text = core.change { memory, now in
            let devices = memory.apns.devices
            return devices.byID[id].map { device in
                JSONWriter.text { device.write(members: &$0, at: now, tokens: devices.tokens) }
            }
        }
        return text.map { .ok($0) } ?? .failure(404, "There is no device \"\(id)\".")
    }

    private struct NewActivity: Decodable {
        var bundleId: String
        var attributesType: String?
        var attributes: JSONValue?
        var contentState: JSONValue?
        var channelId: String?
        var pushToken: Bool?
        var timestamp: Int?
        var staleDate: Double?
    }

    private func startActivity(_ request: ControlRequest, _ id: String) throws(SimulatorError) -> ControlAnswer {
        let new: NewActivity = try request.read()
        if new.bundleId.isEmpty { throw SimulatorError("the body.bundleId: a text that is not empty is expected.") }
        try SimulatorError.check(new.timestamp, in: 0...Int.max, at: "the body.timestamp")
        try SimulatorError.check(new.staleDate, in: 0...1e12, at: "the body.staleDate")
        let none = Array("{}".utf8)
        let start = ActivityStart(
            bundleID: new.bundleId, attributesType: new.attributesType ?? "Activity",
            attributes: new.attributes?.compact ?? none, contentState: new.contentState?.compact ?? none,
            timestamp: new.timestamp ?? 0, channelID: new.channelId, wantsToken: new.pushToken ?? false,
            staleDate: new.staleDate.map { Date(timeIntervalSince1970: $0) })
        let started = try core.change { memory, now in
            Result { () throws(SimulatorError) in
                let activity = try memory.apns.startActivity(start, on: id, now: now)
                return JSONWriter.text { activity.write(members: &$0, at: now) }
            }
        }.get()
        return .created(started)
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

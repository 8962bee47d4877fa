internal import APNsWire
internal import JSON

/// The control API, for tests and people. docs/simulator.md describes it.
extension Simulator {
    /// One line for each route, for `GET /`.
    private static let routeHelp = [
        "GET /journal: requests, filtered by query; with count and timeout it waits for that many",
        "DELETE /journal: clears it",
        "GET, DELETE /counters",
        "GET /apps: all apps and their channels",
        "PATCH /apps/{bundleId}: broadcastCapability, channelLimit with environment",
        "GET, POST, DELETE /apps/{bundleId}/{environment}/channels",
        "GET, DELETE /apps/{bundleId}/{environment}/channels/{channelId}",
        "GET, POST, DELETE /faults",
        "DELETE /faults/{name}",
        "GET, POST, DELETE /buckets: rate limits (429 beyond them), with counts of accepted and refused requests",
        "GET, PATCH, DELETE /buckets/{name}: rate, burst, retryAfter",
        "GET, POST /devices",
        "GET, PATCH, DELETE /devices/{id}",
        "POST /devices/{id}/activities",
        "DELETE /devices/{id}/activities/{number}",
        "POST /devices/{id}/activities/{number}/token",
        "DELETE /tokens/{token}: makes the token invalid",
        "GET /lock-screens: the activities that people see; with after and timeout it waits for a change",
        "GET, PATCH, DELETE /quirks",
        "GET, PATCH /clock",
    ]

    /// The paths of `routeHelp`, as `ControlRequest.pathPattern` has them.
    private static let pathPatterns = Set(
        routeHelp.map { route in
            let path = route.prefix { $0 != ":" }.drop { $0 != "/" }
            return String(path.replacing(#/\{\w+\}/#, with: "*"))
        })

    /// Answers a request. Some requests ask to wait first.
    func answer(_ request: ControlRequest) async -> ControlAnswer {
        do { return try await route(request) } catch { return ControlAnswer(error) }
    }

    private func route(_ request: ControlRequest) async throws -> ControlAnswer {
        let path = request.path
        switch "\(request.method) \(request.pathPattern)" {
        case "GET /": return ControlAnswer(["routes": Self.routeHelp])
        case "GET /journal": return try await entries(request.parameters(numbers: JournalQuery.numeric))
        case "DELETE /journal": clearJournal()
        case "GET /counters": return ControlAnswer(access { memory, _ in memory.counters })
        case "DELETE /counters": access { memory, _ in memory.counters = Counters() }
        case "GET /apps": return ControlAnswer(["apps": access { memory, _ in memory.apns.listedApps }])
        case "PATCH /apps/*": try change(app: path[1], request.parse())
        case "GET /apps/*/*/channels":
            return ControlAnswer(["channels": channels(of: path[1], in: try Self.environment(path[2]))])
        case "POST /apps/*/*/channels":
            let ids = try addChannels(request.parse(), to: .init(path[1], Self.environment(path[2])))
            return ControlAnswer(["channelIds": ids], status: 201)
        case "DELETE /apps/*/*/channels":
            let app = SimulatorState.AppKey(path[1], try Self.environment(path[2]))
            access { memory, _ in memory.apns.deleteAll(of: app) }
        case "GET /apps/*/*/channels/*":
            let all = channels(of: path[1], in: try Self.environment(path[2]))
            return ControlAnswer(try Self.unwrap(all.first { $0.id == path[4] }, "There is no such channel."))
        case "DELETE /apps/*/*/channels/*":
            let app = SimulatorState.AppKey(path[1], try Self.environment(path[2]))
            let wasThere = access { memory, _ in memory.apns.deleteChannel(.init(app: app, id: path[4])) }
            try Self.require(wasThere, "There is no such channel.")
        case "GET /faults": return ControlAnswer(["faults": faults])
        case "POST /faults":
            let body = try request.json()
            guard body["faults"] != nil else {
                let fault: Fault = try body.read(at: "the body")
                return ControlAnswer(try access { memory, _ in try memory.faults.add(fault) }, status: 201)
            }
            try addScript(body.read(at: "the body"))
            return ControlAnswer(["faults": faults], status: 201)
        case "DELETE /faults": removeFaults { _ in true }
        case "DELETE /faults/*":
            try Self.require(removeFaults { $0.name == path[1] }, "There is no fault \"\(path[1])\".")
        case "GET /buckets": return ControlAnswer(buckets)
        case "POST /buckets": return ControlAnswer(try add(request.parse()), status: 201)
        case "DELETE /buckets": access { memory, _ in _ = memory.apns.buckets.remove { _ in true } }
        case "GET /buckets/*":
            return ControlAnswer(try bucket(path[1]).withKeys(Self.keys(request.parameters(numbers: ["keys"]))))
        case "PATCH /buckets/*":
            let change: Bucket.Change = try request.parse()
            return ControlAnswer(try bucket(path[1]) { $0.apply(change) })
        case "DELETE /buckets/*":
            let wasThere = access { memory, _ in memory.apns.buckets.remove { $0.name == path[1] } }
            try Self.require(wasThere, "There is no bucket \"\(path[1])\".")
        case "GET /devices": return ControlAnswer(["devices": devices])
        case "POST /devices": return ControlAnswer(try addDevice(request.parse()), status: 201)
        case "GET /devices/*": return ControlAnswer(try device(path[1]))
        case "PATCH /devices/*":
            let change: OnlineChange = try request.parse()
            setOnline(change.online, device: path[1])
            return ControlAnswer(try device(path[1]))
        case "DELETE /devices/*":
            let wasThere = access { memory, _ in memory.apns.devices.remove(path[1]) }
            try Self.require(wasThere, "There is no device \"\(path[1])\".")
        case "POST /devices/*/activities":
            return ControlAnswer(try startActivity(request.parse(), on: path[1]), status: 201)
        case "DELETE /devices/*/activities/*":
            let wasThere = Int(path[3]).map { number in
                access { memory, now in memory.apns.dismiss(activity: number, on: path[1], now: now) }
            }
            try Self.require(wasThere ?? false, "There is no such device or activity.")
        case "POST /devices/*/activities/*/token":
            return ControlAnswer(["updateToken": try allow(activity: Int(path[3]) ?? 0, on: path[1])], status: 201)
        case "DELETE /tokens/*": try revoke(token: path[1].lowercased(), request.parameters())
        case "GET /lock-screens": return try await lockScreens(request.parameters(numbers: ["after", "timeout"]))
        case "GET /quirks": return ControlAnswer(["quirks": access { memory, _ in memory.apns.quirks.table }])
        case "PATCH /quirks":
            try setQuirks(request.parse())
            return ControlAnswer(["quirks": access { memory, _ in memory.apns.quirks.table }])
        case "DELETE /quirks":
            access { memory, _ in memory.apns.quirks = Quirks() }
            return ControlAnswer(["quirks": access { memory, _ in memory.apns.quirks.table }])
        case "GET /clock": return ControlAnswer(clock)
        case "PATCH /clock":
            try advance(request.parse())
            return ControlAnswer(clock)
        case _ where Self.pathPatterns.contains(request.pathPattern):
            throw SimulatorError(
                "\(request.method) is not allowed on this path: GET / lists the methods of each path.", status: 405)
        default: throw SimulatorError("There is no such path: GET / lists all paths.", status: 404)
        }
        return .noContent
    }

    static func environment(_ name: String) throws(SimulatorError) -> APNsEnvironment {
        guard let environment = APNsEnvironment(rawValue: name) else {
            throw SimulatorError("\"\(name)\" is not an environment: write development or production.")
        }
        return environment
    }

    /// - Throws: 404.
    static func require(_ isThere: Bool, _ message: String) throws(SimulatorError) {
        if !isThere { throw SimulatorError(message, status: 404) }
    }

    /// - Throws: 404.
    static func unwrap<Value>(_ value: Value?, _ message: String) throws(SimulatorError) -> Value {
        guard let value else { throw SimulatorError(message, status: 404) }
        return value
    }
}

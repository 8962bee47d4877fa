internal import APNsWire
internal import JSON

/// The control API, for tests and people. docs/simulator.md describes it.
struct ControlRouter: Sendable {
    /// One line for each route, for `GET /`.
    static let routes = [
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

    let core: SimulatorCore

    /// Answers a request. Some requests ask to wait first.
    func answer(_ request: ControlRequest) async -> ControlAnswer {
        do throws(SimulatorError) {
            switch request.path.first {
            case nil where request.method == "GET": return .ok(JSONWriter.text(["routes": Self.routes]))
            case "journal": return try await journal(request)
            case "counters": return try counters(request)
            case "apps": return try apps(request)
            case "faults": return try faults(request)
            case "buckets": return try buckets(request)
            case "devices": return try devices(request)
            case "tokens": return try tokens(request)
            case "lock-screens": return try await lockScreens(request)
            case "quirks": return try quirks(request)
            case "clock": return try clock(request)
            default: return .failure(404, "There is no such path: GET / lists all paths.")
            }
        } catch {
            return .failure(400, error.message)
        }
    }

    static func methodNotAllowed(_ request: ControlRequest) -> ControlAnswer {
        .failure(405, "\(request.method) is not allowed on this path: GET / lists the methods of each path.")
    }

    static func environment(_ name: String) throws(SimulatorError) -> APNsEnvironment {
        guard let environment = APNsEnvironment(rawValue: name) else {
            throw SimulatorError("\"\(name)\" is not an environment: write development or production.")
        }
        return environment
    }
}

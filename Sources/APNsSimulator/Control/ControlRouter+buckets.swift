internal import FoundationEssentials

/// `/buckets`: rate limits that clients do not know.
extension ControlRouter {
    /// The most keys in an answer, unless the request asks for more.
    private static let keysListed = 100

    func buckets(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        switch (request.method, request.path.count) {
        case ("GET", 1): return .ok(list())
        case ("POST", 1):
            let bucket = try Bucket(try request.json(), at: "the body")
            let added = core.change { memory, now in
                Result { () throws(SimulatorError) in try memory.apns.buckets.add(bucket, now: now) }
            }
            return .created(try added.get().json)
        case ("DELETE", 1):
            core.change { memory, _ in memory.apns.buckets.removeAll() }
            return .done
        case (_, 2): return try bucket(request, request.path[1])
        case (_, 1): return Self.methodNotAllowed(request)
        default: return .failure(404, "There is no such path below a bucket: GET / lists all paths.")
        }
    }

    private func list() -> JSONValue {
        core.change { memory, now in
            let buckets = memory.apns.buckets.all.map(\.name).compactMap { name in
                memory.apns.buckets.change(name, now: now) { _ in }
            }
            return ["now": .seconds(now.timeIntervalSince1970), "buckets": .array(buckets.map(\.json))]
        }
    }

    private func bucket(_ request: ControlRequest, _ name: String) throws(SimulatorError) -> ControlAnswer {
        let none = ControlAnswer.failure(404, "There is no bucket \"\(name)\".")
        switch request.method {
        case "GET":
            let fields = try request.parameters(known: ["keys"], numbers: ["keys"])
            let limit = try fields.integer("keys", in: 0...1_000_000) ?? Self.keysListed
            let bucket = core.change { memory, now in memory.apns.buckets.change(name, now: now) { _ in } }
            return bucket.map { .ok($0.json(keys: limit)) } ?? none
        case "PATCH":
            let change = try Bucket.change(try request.json(), at: "the body")
            let bucket = core.change { memory, now in memory.apns.buckets.change(name, now: now, change) }
            return bucket.map { .ok($0.json) } ?? none
        case "DELETE": return core.change { memory, _ in memory.apns.buckets.remove(name) } ? .done : none
        default: return Self.methodNotAllowed(request)
        }
    }
}

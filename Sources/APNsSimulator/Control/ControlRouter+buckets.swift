internal import FoundationEssentials
internal import JSON

/// `/buckets`: rate limits that clients do not know.
extension ControlRouter {
    /// The most keys in an answer, unless the request asks for more.
    private static let keysListed = 100

    func buckets(_ request: ControlRequest) throws(SimulatorError) -> ControlAnswer {
        switch (request.method, request.path.count) {
        case ("GET", 1): return .ok(list())
        case ("POST", 1):
            let bucket = try Bucket(try request.json(), at: "the body")
            let added = try core.change { memory, now in
                Result { () throws(SimulatorError) in try memory.apns.buckets.add(bucket, now: now) }
            }.get()
            return .created(JSONWriter.text { added.write(members: &$0) })
        case ("DELETE", 1):
            core.change { memory, _ in memory.apns.buckets.removeAll() }
            return .done
        case (_, 2): return try bucket(request, request.path[1])
        case (_, 1): return Self.methodNotAllowed(request)
        default: return .failure(404, "There is no such path below a bucket: GET / lists all paths.")
        }
    }

    private func list() -> [UInt8] {
        core.change { memory, now in
            let buckets = memory.apns.buckets.all.map(\.name).compactMap { name in
                memory.apns.buckets.change(name, now: now) { _ in }
            }
            return JSONWriter.text { object in
                object.member("now", now.seconds)
                object.objects("buckets", buckets) { $1.write(members: &$0) }
            }
        }
    }

    private struct Parameters: Decodable {
        var keys: Int?
    }

    private func bucket(_ request: ControlRequest, _ name: String) throws(SimulatorError) -> ControlAnswer {
        let none = ControlAnswer.failure(404, "There is no bucket \"\(name)\".")
        switch request.method {
        case "GET":
            let parameters: Parameters = try request.parameters(numbers: ["keys"])
            try SimulatorError.check(parameters.keys, in: 0...1_000_000, at: "the query.keys")
            let bucket = core.change { memory, now in memory.apns.buckets.change(name, now: now) { _ in } }
            return bucket.map { bucket in
                .ok(JSONWriter.text { bucket.write(members: &$0, keys: parameters.keys ?? Self.keysListed) })
            } ?? none
        case "PATCH":
            let change: Bucket.Change = try request.read()
            try change.check(at: "the body")
            let bucket = core.change { memory, now in
                memory.apns.buckets.change(name, now: now) { change.apply(to: &$0) }
            }
            return bucket.map { bucket in .ok(JSONWriter.text { bucket.write(members: &$0) }) } ?? none
        case "DELETE": return core.change { memory, _ in memory.apns.buckets.remove(name) } ? .done : none
        default: return Self.methodNotAllowed(request)
        }
    }
}

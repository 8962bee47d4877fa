internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// `/v1/lookup`: what apps ask before they start a Live Activity, by the million, at kick-off.
struct LookupRoutes: Sendable {
    let events: any EventStore
    let now: @Sendable () -> Date

    var routes: [Route] {
        [Route(.get, "/v1/lookup/:bundleId/:environment/:key", .scope(.lookup), lookup)]
    }

    private func lookup(_ request: Request, _ context: APIContext) async throws -> Response {
        let query = try request.query("include")
        let wantsState = try query.read("include", "contentState was expected.") { $0 == "contentState" ? true : nil }
        let key = try context.eventKey()
        let bundleID = try context.bundleID()
        let environment = try context.environment()
        guard
            let entry = try await events.lookup(
                topic: bundleID.topic, in: environment, key, contentState: wantsState ?? false, now: now())
        else {
            throw Problem(
                .eventNotFound, "There is no event \(key) for \(bundleID) in \(environment.rawValue).")
        }
        guard !entry.state.isOver else {
            throw Problem(.eventOver, "The event \(key) is over; there is nothing to follow.")
        }
        guard entry.channelID != nil else {
            throw Problem(.channelPending, "The channel of \(key) is being made. Ask again.", retryAfter: 2)
        }
        return Self.answer(JSONWriter.text(entry), request)
    }

    /// 200 with the entry, or 304 when the caller has it. The ETag is strong: equal exactly when the bytes are.
    private static func answer(_ body: [UInt8], _ request: Request) -> Response {
        let tag = "\"\(String(FNV1a.hash(body), radix: 16))\""
        let headers: HTTPFields = [.eTag: tag, .cacheControl: "public, max-age=10"]
        let known = request.headers[.ifNoneMatch]?.split(separator: ",").contains { candidate in
            let plain = candidate.trimmingPrefix { $0 == " " }.drop { $0 == "W" || $0 == "/" }
            return plain == tag || plain == "*"
        }
        if known ?? false { return Response(status: .notModified, headers: headers) }
        return .json(bytes: body, headers: headers)
    }
}

/// The 64-bit FNV-1a hash: names bytes where nobody has an interest in a collision.
enum FNV1a {
    static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}

internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// What the process can say of itself, for `/readyz`.
package struct Readiness: Sendable {
    /// The database answers and has this binary's schema.
    package var database: Bool
    /// What stands in the way, in words.
    package var detail: String?

    package init(database: Bool, detail: String? = nil) {
        self.database = database
        self.detail = detail
    }
}

/// `/healthz` and `/readyz`: without a key, for probes.
struct HealthRoutes: Sendable {
    let readiness: @Sendable () async -> Readiness

    var routes: [Route] {
        [
            Route(.get, "/healthz", .open) { _, _ in
                .json(bytes: Array(#"{"status":"ok"}"#.utf8))
            },
            Route(.get, "/readyz", .open, ready),
        ]
    }

    private func ready(_ request: Request, _ context: APIContext) async throws -> Response {
        let readiness = await readiness()
        var writer = JSONWriter()
        writer.object { object in
            object.member("status", readiness.database ? "ready" : "not-ready")
            object.member("database", readiness.database ? "ok" : "unavailable")
            object.member("detail", readiness.detail)
        }
        return .json(bytes: writer.bytes, status: readiness.database ? .ok : .serviceUnavailable)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Health {
    /// Whether the process runs.
    public static func health() -> Self { Self("health", .get, "/healthz") }
}

extension GrandstandClient.Call where Value == GrandstandClient.Readiness {
    /// Whether the database is reachable, takes writes, and is migrated; "not ready" is an answer, too.
    public static func readiness() -> Self {
        var call = Self("readiness", .get, "/readyz")
        call.answers = [503]
        return call
    }
}

extension GrandstandClient.Call where Value == String {
    /// Numbers in the text format of Prometheus.
    public static func metrics() -> Self { text("metrics", "/metrics") }

    /// The server's openapi.yaml.
    public static func contract() -> Self { text("contract", "/openapi.yaml") }

    private static func text(_ operationId: String, _ path: EncodedPath) -> Self {
        Self(operationId, .get, path, []) { String(decoding: $0.body, as: UTF8.self) }
    }
}

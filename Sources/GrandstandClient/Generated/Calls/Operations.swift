// Generated from openapi.yaml by `make contract`. Do not edit.

public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.Health {
    /// Answers while the process runs.
    public static func health() -> Self {
        Self(.health, "/healthz")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Readiness {
    /// Says whether the server can use its database, and if not, why.
    public static func readiness() -> Self {
        Self(.readiness, "/readyz").answering(503)
    }
}

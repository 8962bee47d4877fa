// Generated from openapi.yaml by `make contract`. Do not edit.

public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.Health {
    /// Says that the process runs.
    public static func health() -> Self {
        Self(.health, "/healthz")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Readiness {
    /// Says whether the database does its work and has the schema that this server needs, or what keeps it from that.
    public static func readiness() -> Self {
        Self(.readiness, "/readyz").answering(503)
    }
}

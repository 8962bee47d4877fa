internal import Foundation
public import GrandstandContract

// Calls that the generator does not write: those whose answers are not JSON, and the short view of an app.

extension GrandstandClient.Call where Value == String {
    /// The server's metrics in Prometheus' text format.
    public static func metrics() -> Self { Self(.metrics, "/metrics") { String(decoding: $0.body, as: UTF8.self) } }

    /// The server's openapi.yaml.
    public static func contract() -> Self {
        Self(.contract, "/openapi.yaml") { String(decoding: $0.body, as: UTF8.self) }
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.AppNamePage {
    /// Lists the apps in the short view for keys that only have the scope lookup.
    public static func listAppNames() -> Self { Self(.listApps, "/v1/apps") }
}

extension GrandstandClient.Call where Value == GrandstandClient.AppName {
    /// Shows an app in the short view for keys that only have the scope lookup.
    public static func getAppName(_ bundleId: String) -> Self { Self(.getApp, "/v1/apps/\(bundleId)") }
}

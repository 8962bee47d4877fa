internal import Foundation
public import GrandstandContract

// What the contract's own calls do not say: answers that are no JSON, and the short form of an app.

extension GrandstandClient.Call where Value == String {
    /// Numbers in the text format of Prometheus.
    public static func metrics() -> Self { Self(.metrics, "/metrics") { String(decoding: $0.body, as: UTF8.self) } }

    /// The server's openapi.yaml.
    public static func contract() -> Self {
        Self(.contract, "/openapi.yaml") { String(decoding: $0.body, as: UTF8.self) }
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.AppNamePage {
    /// Lists apps as a key with no more than the scope lookup sees them.
    public static func listAppNames() -> Self { Self(.listApps, "/v1/apps") }
}

extension GrandstandClient.Call where Value == GrandstandClient.AppName {
    /// Shows an app as a key with no more than the scope lookup sees it.
    public static func getAppName(_ bundleId: String) -> Self { Self(.getApp, "/v1/apps/\(bundleId)") }
}

extension GrandstandClient.Call where Value == GrandstandClient.Lookup {
    /// The channel of an event, with its newest content if that is asked for; `GrandstandClient.lookup` waits and uses the
    /// cache, too.
    public static func lookup(
        _ key: String, in app: GrandstandClient.AppEnvironment, variant: String? = nil, contentState: Bool
    ) -> Self {
        lookup(key, in: app, include: contentState ? .contentState : nil, variant: variant)
    }
}

internal import Foundation
internal import Grandstand
internal import GrandstandApp

/// The settings of the rehearsed server that affect the results: rates, limits, intervals. The rehearsal has its own
/// address, database, keys and APNs hosts.
enum RehearsalSettings {
    private static let kept: Set = [
        "GRANDSTAND_RATE_LIMIT", "GRANDSTAND_LOOKUP_RATE_LIMIT", "GRANDSTAND_MAX_CONNECTIONS",
        "GRANDSTAND_CLIENT_TIMEOUT", "GRANDSTAND_APNS_CONNECTIONS", "GRANDSTAND_APNS_REQUEST_TIMEOUT",
        "GRANDSTAND_LANE_INTERVAL", "GRANDSTAND_INFREQUENT_INTERVAL", "GRANDSTAND_ALERT_FRESH",
        "GRANDSTAND_RETIRE_AFTER", "GRANDSTAND_EVENT_QUIET_HOURS", "GRANDSTAND_RECONCILE_INTERVAL",
        "GRANDSTAND_RECONCILE_GRACE", "GRANDSTAND_RECONCILE_DELETE_BUDGET", "GRANDSTAND_DRAIN_SECONDS",
    ]

    /// - Parameters:
    ///   - environment: this process's environment variables.
    ///   - speed: the factor of compression. It also divides GRANDSTAND_RETIRE_AFTER and GRANDSTAND_EVENT_QUIET_HOURS.
    /// - Throws: `ConfigurationError` with the name of the variable.
    static func of(_ environment: [String: String], speed: Double) throws -> [String: String] {
        var settings = environment.filter { kept.contains($0.key) }
        let tenure = try Configuration(environment: settings).tenure
        settings["GRANDSTAND_RETIRE_AFTER"] = "\(tenure.retireAfter / speed)"
        // 0.01 hours is the smallest allowed value.
        settings["GRANDSTAND_EVENT_QUIET_HOURS"] = "\(max(0.01, tenure.quietAfter / 3_600 / speed))"
        settings["GRANDSTAND_PORT"] = "0"
        return settings
    }
}

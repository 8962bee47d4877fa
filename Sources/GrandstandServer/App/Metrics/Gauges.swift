internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Gauges that are read whenever the metrics are read.
enum Gauges {
    static func of(_ quota: Quota, at now: Date) -> [GaugeSample] {
        let app = AppEnvironment(bundleID: quota.bundleID, environment: quota.environment).labels
        var samples = Channel.State.allCases.filter { $0 != .deleted }.map { state in
            GaugeSample(
                "grandstand_channels", app + [("state", state.rawValue)], Double(quota.byState[state, default: 0]))
        }
        samples += [
            GaugeSample("grandstand_channel_limit", app, Double(quota.limit)),
            GaugeSample("grandstand_channels_forecast_peak", app, Double(quota.forecast.peak)),
            GaugeSample("grandstand_channels_unmanaged", app, Double(quota.unmanaged)),
            GaugeSample("grandstand_channels_missing", app, Double(quota.missing)),
            GaugeSample(
                "grandstand_unaccepted_seconds", app,
                quota.unacceptedSince.map { max(0, now.timeIntervalSince($0)) } ?? 0),
            GaugeSample("grandstand_installations", app, Double(quota.devices.installations)),
            GaugeSample(
                "grandstand_installations_new", app, Double(max(quota.devices.created, quota.devices.createdBefore))),
        ]
        if let exceedsAt = quota.forecast.exceedsAt {
            samples.append(
                GaugeSample("grandstand_channels_exceed_seconds", app, max(0, exceedsAt.timeIntervalSince(now))))
        }
        for throttle in quota.throttles {
            let labels = app + [("api", throttle.api.rawValue)]
            samples += [
                GaugeSample("grandstand_send_waiting_lanes", labels, Double(throttle.lanesWaiting)),
                GaugeSample("grandstand_send_waiting_oldest_seconds", labels, throttle.oldestSeconds),
            ]
        }
        let standing = Set(quota.alarms)
        return samples
            + Contract.QuotaAlarm.allCases.map {
                GaugeSample("grandstand_alarm", app + [("alarm", $0.rawValue)], standing.contains($0) ? 1 : 0)
            }
    }

    static func of(_ rates: SendRates) -> [GaugeSample] {
        rates.perSecond.map { bundleID, perSecond in
            let app = AppEnvironment(bundleID: bundleID, environment: rates.environment)
            return GaugeSample("grandstand_send_rate", app.labels + [("api", rates.api.rawValue)], perSecond)
        }
    }

    static func of(_ database: DatabaseSession) -> [GaugeSample] {
        PoolSizes.Pool.allCases.flatMap { pool in
            let (idle, busy) = database[pool].connections
            return [("idle", idle), ("busy", busy)].map { state, count in
                GaugeSample(
                    "grandstand_database_connections", [("pool", pool.rawValue), ("state", state)], Double(count))
            }
        }
    }

    static func of(_ lookups: LookupReplica) -> [GaugeSample] {
        lookups.staleness.map { [GaugeSample("grandstand_lookup_staleness_seconds", $0)] } ?? []
    }
}

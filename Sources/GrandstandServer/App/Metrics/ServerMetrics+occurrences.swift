internal import APNsWire
internal import Grandstand
internal import GrandstandContract

extension ServerMetrics {
    /// Counts occurrences. The number of label values is bounded: a reason that Apple does not document is `other`.
    var counting: Counting {
        // These counters are created with the value 0. A series that begins with 1 shows no increase, so its first
        // event would be missed.
        let saved = series("grandstand_saved_sends_total")
        for outcome in Contract.StateOutcome.allCases { _ = counter(of: .told(outcome, saved: 0)) }
        for result in ReconciliationResult.allCases { _ = counter(of: .reconciled(result)) }
        for isDelivered in [true, false] { _ = counter(of: .posted(isDelivered: isDelivered)) }
        for state in StartState.allCases where state.isSettled { _ = counter(of: .started(state, reason: nil)) }
        for environment in APNsEnvironment.allCases {
            for state in Contract.DeliveryState.allCases where state.isSettled {
                _ = counter(of: .settled(environment, state, reason: nil))
            }
        }
        let latency = series("grandstand_accept_to_apns_seconds")
        return { [self] occurrence in
            switch occurrence {
            case .accepted(let seconds): latency.record(seconds)
            case .circuit(let environment, let isOpen):
                series("grandstand_circuit_open", [("environment", environment.rawValue)]).record(isOpen ? 1.0 : 0)
            case .told(_, let count): saved.increment(by: Int64(count))
            case .settled, .started, .reconciled, .posted, .throttled: break
            }
            counter(of: occurrence)?.increment(by: 1)
        }
    }

    private func counter(of occurrence: Occurrence) -> Series? {
        switch occurrence {
        case .settled(let environment, let state, let reason):
            series(
                "grandstand_deliveries_total",
                [
                    ("environment", environment.rawValue), ("state", state.rawValue), ("reason", Self.bounded(reason)),
                ])
        case .started(let state, let reason):
            series("grandstand_starts_total", [("state", state.rawValue), ("reason", Self.bounded(reason))])
        case .reconciled(let result): series("grandstand_reconciliations_total", [("result", result.rawValue)])
        case .posted(let isDelivered):
            series(
                "grandstand_webhook_deliveries_total",
                [("state", (isDelivered ? Contract.WebhookDeliveryState.delivered : .failed).rawValue)])
        case .throttled(let app, let api):
            series("grandstand_throttled_total", app.labels + [("api", api.rawValue)])
        case .told(let outcome, _): series("grandstand_states_total", [("outcome", outcome.rawValue)])
        case .accepted, .circuit: nil
        }
    }

    /// APNs' reason if Apple documents it, otherwise `other`; `none` without a reason.
    private static func bounded(_ reason: String?) -> String {
        reason.map { APNsReason(rawValue: $0).status == nil ? "other" : $0 } ?? "none"
    }
}

extension AppEnvironment {
    /// The labels of metrics about an app in one environment.
    var labels: [(String, String)] { [("bundle_id", bundleID.rawValue), ("environment", environment.rawValue)] }
}

internal import APNsWire
internal import Grandstand
internal import GrandstandContract

extension ServerMetrics {
    /// Counts occurrences. The number of label values is bounded: a reason that Apple does not document is `other`.
    var counting: Counter {
        // These counters are created with the value 0. A series that begins with 1 shows no increase, so its first
        // event would be missed.
        for outcome in Contract.StateOutcome.allCases { count(.newState(outcome, saved: 0), 0) }
        for result in ReconciliationResult.allCases { count(.reconciled(result), 0) }
        for isDelivered in [true, false] { count(.webhookPosted(isDelivered: isDelivered), 0) }
        for state in StartRowState.allCases where state.isSettled { count(.startPushed(state, reason: nil), 0) }
        for environment in APNsEnvironment.allCases {
            for state in Contract.DeliveryState.allCases where state.isSettled {
                count(.settled(environment, state, reason: nil), 0)
            }
        }
        _ = series("grandstand_accept_to_apns_seconds")
        return { self.count($0, 1) }
    }

    private func count(_ occurrence: Occurrence, _ number: Int64) {
        func add(_ name: String, _ labels: [String]) { series(name, labels).increment(by: number) }
        switch occurrence {
        case .apnsAccepted(let seconds): series("grandstand_accept_to_apns_seconds").record(seconds)
        case .circuit(let environment, let isOpen):
            series("grandstand_circuit_open", [environment.rawValue]).record(isOpen ? 1.0 : 0)
        case .settled(let environment, let state, let reason):
            add("grandstand_deliveries_total", [environment.rawValue, state.rawValue, Self.reasonLabel(reason)])
        case .startPushed(let state, let reason):
            add("grandstand_starts_total", [state.rawValue, Self.reasonLabel(reason)])
        case .reconciled(let result): add("grandstand_reconciliations_total", [result.rawValue])
        case .webhookPosted(let isDelivered):
            let state: Contract.WebhookDeliveryState = isDelivered ? .delivered : .failed
            add("grandstand_webhook_deliveries_total", [state.rawValue])
        case .throttled(let app, let api): add("grandstand_throttled_total", app.labels + [api.rawValue])
        case .newState(let outcome, let saved):
            add("grandstand_states_total", [outcome.rawValue])
            series("grandstand_saved_sends_total").increment(by: Int64(saved))
        }
    }

    /// APNs' reason if Apple documents it, otherwise `other`; `none` without a reason.
    private static func reasonLabel(_ reason: String?) -> String {
        reason.map { APNsReason(rawValue: $0).status == nil ? "other" : $0 } ?? "none"
    }
}

extension AppEnvironment {
    /// The values of the labels `bundle_id` and `environment`.
    var labels: [String] { [bundleID.rawValue, environment.rawValue] }
}

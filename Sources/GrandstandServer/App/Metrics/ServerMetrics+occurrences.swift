internal import APNsWire
internal import CoreMetrics
internal import Grandstand
internal import GrandstandContract

extension ServerMetrics {
    /// Counts occurrences. The number of label values is bounded: a reason that Apple does not document is `other`.
    var counting: Counting {
        // These counters are created with the value 0. A series that begins with 1 shows no increase, so its first
        // event would be missed.
        let saved = Counter(label: "grandstand_saved_sends_total", factory: self)
        for outcome in Contract.StateOutcome.allCases { _ = counter(of: .told(outcome, saved: 0)) }
        for result in ReconciliationResult.allCases { _ = counter(of: .reconciled(result)) }
        for isDelivered in [true, false] { _ = counter(of: .posted(isDelivered: isDelivered)) }
        for state in StartState.allCases where state.isSettled { _ = counter(of: .started(state, reason: nil)) }
        for environment in APNsEnvironment.allCases {
            for state in Contract.DeliveryState.allCases where state.isSettled {
                _ = counter(of: .settled(environment, state, reason: nil))
            }
        }
        let latency = CoreMetrics.Timer(label: "grandstand_accept_to_apns_seconds", factory: self)
        return { [self] occurrence in
            switch occurrence {
            case .accepted(let seconds): latency.recordSeconds(seconds)
            case .circuit(let environment, let isOpen):
                Gauge(
                    label: "grandstand_circuit_open", dimensions: [("environment", environment.rawValue)], factory: self
                ).record(isOpen ? 1 : 0)
            case .told(_, let count): saved.increment(by: count)
            case .settled, .started, .reconciled, .posted, .throttled: break
            }
            counter(of: occurrence)?.increment()
        }
    }

    private func counter(of occurrence: Occurrence) -> Counter? {
        func counter(_ label: String, _ dimensions: [(String, String)]) -> Counter {
            Counter(label: label, dimensions: dimensions, factory: self)
        }
        return switch occurrence {
        case .settled(let environment, let state, let reason):
            counter(
                "grandstand_deliveries_total",
                [
                    ("environment", environment.rawValue), ("state", state.rawValue), ("reason", Self.bounded(reason)),
                ])
        case .started(let state, let reason):
            counter("grandstand_starts_total", [("state", state.rawValue), ("reason", Self.bounded(reason))])
        case .reconciled(let result): counter("grandstand_reconciliations_total", [("result", result.rawValue)])
        case .posted(let isDelivered):
            counter(
                "grandstand_webhook_deliveries_total",
                [("state", (isDelivered ? Contract.WebhookDeliveryState.delivered : .failed).rawValue)])
        case .throttled(let app, let api):
            counter(
                "grandstand_throttled_total",
                [
                    ("bundle_id", app.bundleID.rawValue), ("environment", app.environment.rawValue),
                    ("api", api.rawValue),
                ])
        case .told(let outcome, _): counter("grandstand_states_total", [("outcome", outcome.rawValue)])
        case .accepted, .circuit: nil
        }
    }

    /// APNs' reason if Apple documents it, otherwise `other`; `none` without a reason.
    private static func bounded(_ reason: String?) -> String {
        reason.map { APNsReason(rawValue: $0).status == nil ? "other" : $0 } ?? "none"
    }
}

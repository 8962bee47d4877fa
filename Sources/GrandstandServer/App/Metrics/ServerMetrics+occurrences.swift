internal import APNsWire
internal import CoreMetrics
internal import Grandstand
internal import GrandstandContract

extension ServerMetrics {
    /// Counts occurrences. The number of label values is bounded: a reason that Apple does not document is `other`.
    var counting: Counting {
        let backend = backend
        @Sendable func circuit(_ environment: APNsEnvironment) -> Meter {
            Meter(
                label: "grandstand_circuit_open", dimensions: [("environment", environment.rawValue)], factory: backend)
        }
        @Sendable func counter(_ label: String, _ dimensions: [(String, String)]) -> Counter {
            Counter(label: label, dimensions: dimensions, factory: backend)
        }
        let latency = CoreMetrics.Timer(label: "grandstand_accept_to_apns_seconds", factory: backend)
        @Sendable func made(_ occurrence: Occurrence) -> Counter? {
            switch occurrence {
            case .settled(let environment, let state, let reason):
                counter(
                    "grandstand_deliveries_total",
                    [
                        ("environment", environment.rawValue), ("state", state.rawValue),
                        ("reason", reason ?? Self.noReason),
                    ])
            case .started(let state, let reason):
                counter(
                    "grandstand_starts_total", [("state", state.rawValue), ("reason", reason ?? Self.noReason)])
            case .reconciled(let result):
                counter("grandstand_reconciliations_total", [("result", result.rawValue)])
            case .posted(let isDelivered):
                counter(
                    "grandstand_webhook_deliveries_total",
                    [
                        (
                            "state",
                            (isDelivered ? Contract.WebhookDeliveryState.delivered : .failed).rawValue
                        )
                    ])
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
        let counters = MadeOnce<Occurrence, Counter?>()
        @Sendable func counter(of occurrence: Occurrence) -> Counter? { counters.value(of: occurrence, make: made) }
        // These counters are created with the value 0. A series that begins with 1 shows no increase, so its first
        // event would be missed.
        let saved = counter("grandstand_saved_sends_total", [])
        for outcome in Contract.StateOutcome.allCases { _ = counter(of: .told(outcome, saved: 0)) }
        for result in ReconciliationResult.allCases { _ = counter(of: .reconciled(result)) }
        for isDelivered in [true, false] { _ = counter(of: .posted(isDelivered: isDelivered)) }
        for state in StartState.allCases { _ = counter(of: .started(state, reason: nil)) }
        for environment in APNsEnvironment.allCases {
            for state in Contract.DeliveryState.allCases where state.isSettled {
                _ = counter(of: .settled(environment, state, reason: nil))
            }
        }
        return { occurrence in
            switch occurrence {
            case .accepted(let seconds): latency.recordNanoseconds(Int64(seconds * 1e9))
            case .circuit(let environment, let isOpen): circuit(environment).set(isOpen ? 1 : 0)
            case .settled(let environment, let state, let reason):
                counter(of: .settled(environment, state, reason: Self.bounded(reason)))?.increment()
            case .started(let state, let reason):
                counter(of: .started(state, reason: Self.bounded(reason)))?.increment()
            case .told(let outcome, let count):
                counter(of: .told(outcome, saved: 0))?.increment()
                if count > 0 { saved.increment(by: count) }
            case .reconciled, .posted, .throttled: counter(of: occurrence)?.increment()
            }
        }
    }

    private static let noReason = "none"

    /// APNs' reason if Apple documents it, otherwise `other`.
    private static func bounded(_ reason: String?) -> String? {
        reason.map { APNsReason(rawValue: $0).status == nil ? "other" : $0 }
    }
}

internal import CoreMetrics
internal import HTTP2
internal import Synchronization

/// The metrics of a pool. Labels: `host`, `team`, `key` and `traffic`; each has few values.
final class PoolMetrics: Sendable {
    private let labels: [(String, String)]
    private let factory: any MetricsFactory
    private let connections: Meter
    private let streams: Meter
    private let queueWait: CoreMetrics.Timer
    private let roundTrip: CoreMetrics.Timer
    private let opened: Counter

    /// - Parameter factory: the metrics backend.
    init(host: String, team: String, key: String, traffic: String, factory: any MetricsFactory) {
        let labels = [("host", host), ("team", team), ("key", key), ("traffic", traffic)]
        self.labels = labels
        self.factory = factory
        connections = Meter(label: "grandstand_apns_connections", dimensions: labels, factory: factory)
        streams = Meter(label: "grandstand_apns_streams_in_use", dimensions: labels, factory: factory)
        queueWait = Timer(label: "grandstand_apns_queue_wait_seconds", dimensions: labels, factory: factory)
        roundTrip = Timer(label: "grandstand_apns_round_trip_seconds", dimensions: labels, factory: factory)
        opened = Counter(
            label: "grandstand_apns_connects_total", dimensions: labels + [("result", "ok")], factory: factory)
    }

    func gauges(connections: Int, streams: Int) {
        self.connections.set(connections)
        self.streams.set(streams)
    }

    /// Records an answered request: the wait for a stream, and the time that APNs took.
    func answered(queued: Duration, roundTrip time: Duration) {
        queueWait.recordNanoseconds(queued.nanoseconds)
        roundTrip.recordNanoseconds(time.nanoseconds)
    }

    func connected() { opened.increment() }

    /// Counts a failed attempt; the label `result` is the step that failed.
    func failed(_ step: HTTP2ConnectError.Kind) { count("grandstand_apns_connects_total", ("result", step.rawValue)) }

    func goAway(_ reason: GoAwayReason) { count("grandstand_apns_goaways_total", ("reason", reason.label)) }

    /// Failed attempts to connect and GOAWAYs are rare, so the counter is created at each call.
    private func count(_ name: String, _ label: (String, String)) {
        Counter(label: name, dimensions: labels + [label], factory: factory).increment()
    }
}

extension Duration {
    /// The duration in nanoseconds; at most 292 years.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue + attoseconds / 1_000_000_000
    }
}

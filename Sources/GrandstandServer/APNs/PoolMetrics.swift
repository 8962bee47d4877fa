internal import CoreMetrics
internal import HTTP2

/// The metrics of a pool. Labels: `host`, `team`, `key` and `traffic`; each has few values.
final class PoolMetrics: Sendable {
    private let labels: [(String, String)]
    private let metrics: ServerMetrics
    private let connections: Gauge
    private let streams: Gauge
    private let queueWait: CoreMetrics.Timer
    private let roundTrip: CoreMetrics.Timer

    init(host: String, team: String, key: String, traffic: String, _ metrics: ServerMetrics) {
        let labels = [("host", host), ("team", team), ("key", key), ("traffic", traffic)]
        self.labels = labels
        self.metrics = metrics
        connections = Gauge(label: "grandstand_apns_connections", dimensions: labels, factory: metrics)
        streams = Gauge(label: "grandstand_apns_streams_in_use", dimensions: labels, factory: metrics)
        queueWait = Timer(label: "grandstand_apns_queue_wait_seconds", dimensions: labels, factory: metrics)
        roundTrip = Timer(label: "grandstand_apns_round_trip_seconds", dimensions: labels, factory: metrics)
        // A series that begins with 1 shows no increase.
        count("grandstand_apns_connects_total", ("result", "ok"), 0)
    }

    func gauges(connections: Int, streams: Int) {
        self.connections.record(connections)
        self.streams.record(streams)
    }

    /// Records an answered request: the wait for a stream, and the time that APNs took.
    func answered(queued: Duration, roundTrip time: Duration) {
        queueWait.record(queued)
        roundTrip.record(time)
    }

    func connected() { count("grandstand_apns_connects_total", ("result", "ok")) }

    /// Counts a failed attempt; the label `result` is the step that failed.
    func failed(_ step: HTTP2ConnectError.Kind) { count("grandstand_apns_connects_total", ("result", step.rawValue)) }

    func goAway(_ reason: GoAwayReason) { count("grandstand_apns_goaways_total", ("reason", reason.label)) }

    private func count(_ name: String, _ label: (String, String), _ number: Int = 1) {
        Counter(label: name, dimensions: labels + [label], factory: metrics).increment(by: number)
    }
}

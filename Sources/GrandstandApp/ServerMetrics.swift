internal import CoreMetrics
internal import GrandstandAPI
internal import PrometheusMetrics

/// This process's metrics, as `GET /metrics` answers them.
struct ServerMetrics: OperationMetrics {
    let backend = PrometheusMetrics()

    func answered(method: String, path: String?, status: Int, time: Duration) {
        // Methods are the caller's words; the ones no route takes are one series.
        let method = ["GET", "POST", "PUT", "DELETE", "HEAD"].contains(method) ? method : "other"
        answers(method: method, path: path ?? "none", status: status)(time)
    }

    func answers(method: String, path: String, status: Int) -> @Sendable (Duration) -> Void {
        let counter = Counter(
            label: "http_requests_total", dimensions: [("method", method), ("route", path), ("status", "\(status)")],
            factory: backend)
        let timer = Timer(
            label: "http_request_seconds", dimensions: [("method", method), ("route", path)], factory: backend)
        return { time in
            counter.increment()
            timer.recordNanoseconds(
                time.components.seconds * 1_000_000_000 + time.components.attoseconds / 1_000_000_000)
        }
    }

    /// Notes by how many seconds this machine's clock is ahead of the database's.
    var clockOffset: @Sendable (Double) -> Void {
        let meter = Meter(label: "clock_offset_seconds", factory: backend)
        return { meter.set($0) }
    }

    func exposition() -> [UInt8] { backend.exposition() }
}

internal import CoreMetrics
internal import FoundationEssentials
internal import Synchronization

/// The metrics of this process, for `GET /metrics`.
struct ServerMetrics: Sendable {
    let backend = PrometheusMetrics(MetricCatalog.all)
    private let recorders = MadeOnce<SeriesKey, @Sendable (Duration) -> Void>()
    private let sources = Sources()

    init() {
        Meter(
            label: "grandstand_build_info",
            dimensions: [
                ("version", BuildInfo.version), ("schema", "\(BuildInfo.schema)"), ("swift", BuildInfo.swift),
            ], factory: backend
        ).set(1)
        Meter(label: "grandstand_start_time_seconds", factory: backend).set(Date().timeIntervalSince1970)
    }

    /// Adds a source of gauges, which is called whenever metrics are read.
    func tell(_ source: @escaping @Sendable () -> [GaugeSample]) { sources.all.withLock { $0.append(source) } }

    /// - Parameter path: the route's path; `nil`: there is no route. The request's own path is not used, so that
    ///   clients cannot create new time series.
    func answered(method: String, path: String?, status: Int, time: Duration) {
        // An HTTP client can send any method. All unknown methods share one series, so that a client cannot create any
        // number of series.
        let known =
            switch method {
            case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD": method
            default: "other"
            }
        let series = SeriesKey(method: known, path: path ?? "none", status: status)
        recorders.value(of: series) { answers(method: $0.method, path: $0.path, status: $0.status) }(time)
    }

    /// Returns a counter for answers of one kind. It is looked up once and called millions of times.
    func answers(method: String, path: String, status: Int) -> @Sendable (Duration) -> Void {
        let counter = Counter(
            label: "grandstand_http_requests_total",
            dimensions: [("method", method), ("route", path), ("status", "\(status)")],
            factory: backend)
        let timer = Timer(
            label: "grandstand_http_request_seconds", dimensions: [("method", method), ("route", path)],
            factory: backend)
        return { time in
            counter.increment()
            timer.recordNanoseconds(
                time.components.seconds * 1_000_000_000 + time.components.attoseconds / 1_000_000_000)
        }
    }

    /// Sets the gauge of the seconds by which this machine's clock is ahead of the database's.
    var clockOffset: @Sendable (Double) -> Void {
        let meter = Meter(label: "grandstand_clock_offset_seconds", factory: backend)
        return { meter.set($0) }
    }

    /// Records how long callers of a pool waited for a connection.
    func waits(of pool: String) -> @Sendable (Duration) -> Void {
        let timer = CoreMetrics.Timer(
            label: "grandstand_database_wait_seconds", dimensions: [("pool", pool)], factory: backend)
        return { wait in
            timer.recordNanoseconds(
                wait.components.seconds * 1_000_000_000 + wait.components.attoseconds / 1_000_000_000)
        }
    }

    /// Returns the counter of the lookups that ended with one result. Callers get the counter once and call it millions
    /// of times.
    func lookups(_ result: LookupResult) -> @Sendable () -> Void {
        let counter = Counter(
            label: "grandstand_lookups_total", dimensions: [("result", result.rawValue)], factory: backend)
        return { counter.increment() }
    }

    /// All metrics in Prometheus' text format.
    func exposition() -> [UInt8] {
        let sources = sources.all.withLock { $0 }
        return backend.exposition(with: sources.flatMap { $0() })
    }
}

/// The labels of answers in the metrics.
private struct SeriesKey: Hashable {
    let method: String
    let path: String
    let status: Int
}

/// The sources of gauges.
private final class Sources: Sendable {
    let all = Mutex<[@Sendable () -> [GaugeSample]]>([])
}

/// Values that are made once for each key, because finding a metric by its labels took a seventh of a routed request's
/// time.
final class MadeOnce<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let made = Mutex<[Key: Value]>([:])

    func value(of key: Key, make: (Key) -> Value) -> Value {
        made.withLock { made in
            if let value = made[key] { return value }
            let value = make(key)
            made[key] = value
            return value
        }
    }
}

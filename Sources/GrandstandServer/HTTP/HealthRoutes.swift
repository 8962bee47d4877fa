internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// `/healthz`, `/readyz` and `/metrics`, for probes and for a Prometheus.
extension API {
    /// - Parameter isPrivate: `true`: on the private port. No key is needed, and answers may contain host names.
    func healthRoutes(isPrivate: Bool = false) -> [Route] {
        var numbers = Route(.metrics) { _, context in
            // The metrics contain the names of all apps, so the key must have access to all apps. On the private port,
            // no key is needed.
            guard isPrivate || context.reach == .all else { throw context.reach.refusal }
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: metrics.exposition())))
        }
        if isPrivate { numbers.scopes = nil }
        return [
            Route(.health) { _, _ in .json(Contract.Health(status: "ok")) },
            Route(.readiness) { _, _ in
                var readiness = readiness()
                if !isPrivate { (readiness.apns.development.reason, readiness.apns.production.reason) = (nil, nil) }
                return .json(readiness, status: readiness.status == .ready ? .ok : .serviceUnavailable)
            },
            numbers,
        ]
    }
}

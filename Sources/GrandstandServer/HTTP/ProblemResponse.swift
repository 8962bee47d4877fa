internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON

extension Contract.Problem {
    /// Contains the members that RFC 9457 defines, and the further members of this problem.
    init(_ problem: Problem, requestID: String? = nil) {
        self.init(
            type: Self.typeBase + problem.kind.rawValue, title: problem.kind.title, status: problem.status,
            detail: problem.detail, requestId: requestID,
            errors: problem.errors.isEmpty ? nil : problem.errors,
            apns: problem.apns.map(Contract.APNsRefusal.init))
        for member in problem.members {
            switch member {
            case .limit(let value): limit = value
            case .used(let value): used = value
            case .reserved(let value): reserved = value
            case .size(let value): size = value
            case .channels(let value): channels = value
            case .sequence(let value): sequence = value
            case .contentState(let text): contentState = RawJSON(unchecked: text)
            case .timestamp(let value): timestamp = value
            case .variants(let names): variants = names
            case .id(let value): id = value.words
            case .state(let value): state = value
            }
        }
    }

    /// Never change this base: clients compare the whole `type`, or the last part of `type`.
    private static let typeBase = "https://grandstand.dev/problems/"
}

extension Contract.APNsRefusal {
    fileprivate init(_ refusal: APNsRefusal) {
        self.init(status: refusal.status, reason: refusal.reason.text, requestId: refusal.requestID)
    }
}

extension Problem {
    func response(requestID: String) -> Response {
        let body = JSONWriter.text(Contract.Problem(self, requestID: requestID))
        var headers: HTTPFields = [.contentType: "application/problem+json"]
        if let maxAge { headers[.cacheControl] = "public, max-age=\(maxAge)" }
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if let age { headers.append(contentsOf: LookupReplica.Freshness.stale(seconds: age).headers) }
        if kind == .unauthenticated { headers[.wwwAuthenticate] = "Bearer" }
        return Response(
            status: .init(code: status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

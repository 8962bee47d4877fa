internal import APNsWire

/// Faults that affect APNs' state.
extension SimulatorState {
    /// Changes the state before the request is processed.
    mutating func prepare(for action: FaultAction, _ request: SimulatorRequest) {
        let route = try? Route(method: request.method, path: request.path)
        guard let name = FaultMatch.app(of: request, route) else { return }
        let app = AppKey(name: name, environment: request.environment)
        switch action {
        case .capabilityOff: setBroadcastCapability(false, of: name)
        case .vanish: vanish(app)
        case .quota(let channels):
            limits[app] = channels
        default: break
        }
    }

    /// A refusal in place of APNs' answer, with a request ID. The reason is sent unchanged.
    mutating func refusal(
        _ reason: String, status: Int, retryAfter: Int?, to request: SimulatorRequest
    ) -> SimulatorAnswer {
        var answer = SimulatorAnswer.refusal(APNsReason(rawValue: reason), spelled: reason, status: status)
        if let retryAfter { answer.headers.append(.init(APNsHeader.retryAfter, String(retryAfter))) }
        answer.operation = (try? Route(method: request.method, path: request.path))?.operation
        complete(&answer, to: request)
        return answer
    }
}

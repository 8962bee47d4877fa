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
            revision += 1
        default: break
        }
    }

    /// A refusal in place of APNs' answer, with a request ID. `Quirks` decides the spelling of a reason that Apple
    /// documents. Any other text is sent unchanged.
    mutating func refusal(
        _ reason: String, status: Int, retryAfter: Int?, to request: SimulatorRequest
    ) -> SimulatorAnswer {
        let known = APNsReason(rawValue: reason)
        var answer = SimulatorAnswer.refusal(
            known, spelled: known.rawValue == reason ? quirks.spelling(of: known) : reason, status: status)
        if let retryAfter { answer.headers.append(.init(APNsHeader.retryAfter, String(retryAfter))) }
        completeReplacement(&answer, for: request)
        return answer
    }

    /// Completes an answer that replaces APNs' own: adds the operation and the request ID.
    mutating func completeReplacement(_ answer: inout SimulatorAnswer, for request: SimulatorRequest) {
        answer.operation = (try? Route(method: request.method, path: request.path))?.operation
        complete(&answer, to: request)
    }
}

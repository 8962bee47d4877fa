internal import APNsWire

/// Faults that concern APNs itself.
extension SimulatorState {
    /// Changes APNs before the request that met the fault is processed.
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

    /// An answer in APNs' place, with the id every answer has. A reason in its usual spelling is spelled as the quirks
    /// have it, any other as it is written.
    mutating func refusal(
        _ reason: String, status: Int, retryAfter: Int?, to request: SimulatorRequest
    ) -> SimulatorAnswer {
        let known = APNsReason(rawValue: reason)
        var answer = SimulatorAnswer.refusal(
            known, spelled: known.rawValue == reason ? quirks.spelling(of: known) : reason, status: status)
        if let retryAfter { answer.headers.append(.init(APNsHeader.retryAfter, String(retryAfter))) }
        standIn(&answer, for: request)
        return answer
    }

    /// Gives an answer in APNs' place the members that APNs' own would have: the route and the ID.
    mutating func standIn(_ answer: inout SimulatorAnswer, for request: SimulatorRequest) {
        answer.operation = (try? Route(method: request.method, path: request.path))?.operation
        complete(&answer, to: request)
    }
}

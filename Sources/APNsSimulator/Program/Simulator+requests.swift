internal import APNsWire
internal import HTTP2
internal import JSON
internal import Logging

/// The handler of one port. It serves one environment, and treats connections as APNs does. A client that asks for one
/// of Apple's hosts by name (SNI) gets that host's environment and service, on every port.
struct EnvironmentHandler: HTTP2ServerHandler {
    let environment: APNsEnvironment
    let simulator: Simulator

    func opened(_ connection: HTTP2ServerConnection) {
        let environment = resolve(connection.serverName).environment
        simulator.access { memory, _ in
            memory.counters.connections.opened += 1
            memory.connections[connection.id] = (connection, environment)
            memory.apns.opened(connection: connection.id)
        }
    }

    func closed(_ connection: HTTP2ServerConnection) {
        simulator.access { memory, _ in
            memory.counters.connections.closed += 1
            memory.connections[connection.id] = nil
            memory.apns.closed(connection: connection.id)
        }
    }

    func received(_ request: HTTP2Request, bodyIsCut: Bool, on stream: HTTP2ServerStream) {
        let place = resolve(stream.connection.serverName)
        simulator.receive(
            SimulatorRequest(
                environment: place.environment, service: place.service, connectionID: stream.connection.id,
                method: request.method, path: request.path, headers: request.headers.map { .init($0.name, $0.value) },
                body: request.body, bodyIsCut: bodyIsCut), on: stream)
    }

    /// Whether to serve a new connection, or to let it fail during TLS because a fault says so.
    func admission(serverName: String?) -> HTTP2Admission {
        let environment = resolve(serverName).environment
        return simulator.access { memory, _ in
            guard let fault = memory.faults.trigger(connectionTo: environment) else { return .serve }
            memory.counters.connections.failed += 1
            return fault.failure == .handshake ? .close : .useOtherTLS
        }
    }

    private func resolve(_ serverName: String?) -> (service: HostService, environment: APNsEnvironment) {
        serverName.flatMap(HostService.named) ?? (.all, environment)
    }
}

extension Simulator {
    /// Processes a request, writes the journal, and sends or withholds the answer.
    func receive(_ request: SimulatorRequest, on stream: HTTP2ServerStream) {
        let (answer, fault, others) = access { memory, now in
            let (answer, fault) = memory.process(request, now: now)
            if let answer, let fault, fault.action == .delay, fault.seconds == nil {
                memory.faults.withhold({ stream.send(answer) }, by: fault.name)
            }
            guard fault?.manner == .rolling else { return (answer, fault, [HTTP2ServerConnection]()) }
            let others = memory.connections.values.filter { $0.environment == request.environment }
            return (answer, fault, others.map(\.connection))
        }
        log(request, answer, fault)
        if let answer, fault?.fate ?? .answered == .answered { stream.send(answer) }
        guard let fault else { return }
        let connection = stream.connection
        switch (fault.action, fault.by) {
        case (.delay, _):
            guard let answer, let seconds = fault.seconds else { return }
            Task {
                try? await Task.sleep(for: .seconds(seconds))
                stream.send(answer)
            }
        case (.lose, .reset): stream.reset(code: HTTP2ErrorCode.internalError.rawValue)
        case (.lose, .cut), (.cut, _): connection.abort()
        case (.reset, _): stream.reset(code: fault.code?.number ?? 0)
        case (.refuseStream, _): stream.reset(code: HTTP2ErrorCode.refusedStream.rawValue)
        case (.goAway, _):
            let code = fault.code?.number ?? 0
            for connection in fault.manner == .rolling ? others : [connection] {
                connection.end(fault.reason, code: code, lastStream: fault.manner == .mid ? stream.id - 2 : nil)
            }
        case (.settings, _): connection.setMaximumConcurrentStreams(fault.maximumStreams ?? 0)
        case (.slowReads, _): connection.pauseReading(for: .seconds(fault.seconds ?? 0))
        case (.refuse, _), (.silence, _), (.lose, _), (.reorder, _), (.capabilityOff, _), (.vanish, _), (.quota, _),
            (.tls, _):
            break
        }
    }

    /// Removes faults, and sends the answers that they withhold.
    ///
    /// - Returns: whether a fault was removed.
    @discardableResult
    func removeFaults(where isRemoved: (Fault) -> Bool) -> Bool {
        let answers = access { memory, _ in memory.faults.remove(where: isRemoved) }
        for answer in answers ?? [] { answer() }
        return answers != nil
    }

    private func log(_ request: SimulatorRequest, _ answer: SimulatorAnswer?, _ fault: Fault?) {
        let isAccepted = answer.map { $0.reason == nil } ?? false
        logger.log(
            level: isAccepted ? .debug : .info,
            isAccepted ? "request accepted" : answer == nil ? "request not processed" : "request refused",
            metadata: [
                "environment": "\(request.environment.rawValue)", "method": "\(request.method)",
                "path": "\(request.path)", "status": "\(answer?.status ?? 0)",
                "reason": "\(answer?.reason?.rawValue ?? "-")", "fault": "\(fault?.name ?? "-")",
                "apns-request-id": "\(answer?[header: APNsHeader.requestID] ?? "-")",
            ])
    }
}

extension Simulator.Memory {
    /// Processes a request, and writes the journal.
    ///
    /// - Returns: APNs' answer, or `nil` if a fault prevented the processing; and the fault that acts on the request.
    fileprivate mutating func process(
        _ request: SimulatorRequest, now: Double
    ) -> (answer: SimulatorAnswer?, fault: Fault?) {
        let route = faults.faults.isEmpty ? nil : try? Route(method: request.method, path: request.path)
        let fault = faults.trigger(request, route)
        if let fault { apply(fault, request, route) }
        var answer: SimulatorAnswer?
        if let fault, fault.action == .refuse {
            answer = apns.refusal(by: fault, to: request)
            answer?.operation = route?.operation
        } else if fault?.fate != .unprocessed {
            answer = apns.handle(request, postponing: fault?.action == .reorder, now: now)
        }
        let entry = JournalEntry(
            time: now, request: request, operation: answer?.operation, status: answer?.status ?? 0,
            reason: answer?.reason, requestID: answer?[header: SimulatorState.idHeader(of: request)] ?? "",
            fate: fault?.fate ?? .answered, fault: fault?.name)
        counters.count(entry)
        journal.record(entry)
        return (answer, fault)
    }

    /// Changes APNs' state before the request is processed.
    private mutating func apply(_ fault: Fault, _ request: SimulatorRequest, _ route: Route?) {
        guard let name = FaultMatch.app(of: request, route) else { return }
        let app = SimulatorState.AppKey(name, request.environment)
        switch fault.action {
        case .capabilityOff: apns.setBroadcastCapability(false, of: name)
        case .vanish: apns.deleteAll(of: app)
        case .quota: apns.channelLimits[app] = fault.channels
        default: break
        }
    }
}

extension SimulatorState {
    /// A refusal in place of APNs' answer, with a request ID. The reason is sent unchanged.
    fileprivate mutating func refusal(by fault: Fault, to request: SimulatorRequest) -> SimulatorAnswer {
        let reason = fault.reason ?? ""
        let refusal = Refusal(APNsReason(rawValue: reason), retryAfter: fault.retryAfter)
        var answer = SimulatorAnswer.refusal(refusal, spelled: reason, status: fault.status)
        addID(to: &answer, for: request)
        return answer
    }
}

extension HTTP2ServerStream {
    fileprivate func send(_ answer: SimulatorAnswer) {
        if let streams = answer.newStreamLimit { connection.setMaximumConcurrentStreams(streams) }
        if answer.endsConnection { connection.end(answer.reason?.rawValue, code: 0) }
        respond(
            status: answer.status,
            headers: answer.headers.map { HTTP2Header($0.name, $0.value, indexing: .never) }, body: answer.body)
    }
}

extension HTTP2ServerConnection {
    /// Sends GOAWAY with `{"reason":…}`.
    fileprivate func end(_ reason: String?, code: UInt32, lastStream: Int? = nil) {
        let data = Array("{\"reason\":\((reason ?? "").quotedJSON)}".utf8)
        goAway(code: code, debugData: data, lastStream: lastStream)
    }
}

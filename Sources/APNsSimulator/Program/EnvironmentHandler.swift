internal import APNsWire
internal import HTTP2
internal import JSON

/// The handler of one port. It serves one environment, and treats connections as APNs does. A client that asks for one
/// of Apple's hosts by name (SNI) gets that host's environment and service, on every port.
struct EnvironmentHandler: HTTP2ServerHandler {
    let environment: APNsEnvironment
    let core: SimulatorCore
    let connections: Connections

    func opened(_ connection: HTTP2ServerConnection) {
        let place = place(of: connection)
        connections.insert(connection, place.environment)
        core.change { memory, _ in
            memory.counters.connectionsOpened += 1
            memory.apns.opened(connection: connection.id)
        }
    }

    func closed(_ connection: HTTP2ServerConnection) {
        connections.remove(connection)
        core.change { memory, _ in
            memory.counters.connectionsClosed += 1
            memory.apns.closed(connection: connection.id)
        }
    }

    func received(_ request: HTTP2Request, bodyIsCut: Bool, on stream: HTTP2ServerStream) {
        let place = place(of: stream.connection)
        let request = SimulatorRequest(
            environment: place.environment, service: place.service, connection: stream.connection.id,
            method: request.method, path: request.path, headers: request.headers.map { .init($0.name, $0.value) },
            body: request.body, bodyIsCut: bodyIsCut)
        core.receive(request) { steps in
            for step in steps { perform(step, on: stream) }
        }
    }

    /// Whether to serve a new connection, or to let it fail during TLS because a fault says so.
    func admission(serverName: String?) -> HTTP2Admission {
        let environment = serverName.flatMap(HostService.named)?.environment ?? environment
        return core.change { memory, _ in
            guard let failure = memory.faults.claim(connectionTo: environment) else { return .serve }
            memory.counters.connectionsFailed += 1
            return failure == .handshake ? .close : .otherIdentity
        }
    }

    private func place(
        of connection: HTTP2ServerConnection
    ) -> (service: HostService, environment: APNsEnvironment) {
        connection.serverName.flatMap(HostService.named) ?? (.all, environment)
    }

    private func perform(_ step: Reaction.Step, on stream: HTTP2ServerStream) {
        let connection = stream.connection
        switch step {
        case .respond(let answer):
            stream.respond(
                status: answer.status,
                headers: answer.headers.map { HTTP2Header($0.name, $0.value, indexing: .never) }, body: answer.body)
        case .reset(let code): stream.reset(code: code)
        case .effect(.maximumStreams(let streams)): connection.setMaximumConcurrentStreams(streams)
        case .effect(.goAway(let reason, let code)):
            connection.goAway(code: code, debugData: Self.debugData(reason))
        case .goAwayBefore(let reason, let code):
            connection.goAway(code: code, debugData: Self.debugData(reason), lastStream: stream.id - 2)
        case .goAwayOnAllConnections(let environment, let reason, let code):
            for connection in connections.all(in: environment) {
                connection.goAway(code: code, debugData: Self.debugData(reason))
            }
        case .pauseReading(let seconds): connection.pauseReading(for: .seconds(seconds))
        case .cut: connection.close()
        }
    }

    private static func debugData(_ reason: String) -> [UInt8] {
        Array("{\"reason\":\(reason.quotedJSON)}".utf8)
    }
}

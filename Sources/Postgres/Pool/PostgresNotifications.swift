internal import CLibPQ
internal import Logging

/// What a listener hears.
package enum PostgresNotification: Sendable, Hashable {
    /// Listening begins, at first and after each reconnect: what was notified before is not known.
    case listening
    case notification(channel: String, payload: String)
}

extension PostgresPool {
    /// LISTENs on a connection of its own. The stream reconnects by itself, and ends when its consumer stops or the
    /// pool is closed.
    package func notifications(on channels: [String]) -> AsyncStream<PostgresNotification> {
        AsyncStream { continuation in
            let listener = Listener(pool: self, channels: channels)
            let task = Task {
                await listener.run { continuation.yield($0) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

private struct Listener: Sendable {
    let pool: PostgresPool
    let channels: [String]

    /// How often a silent connection is looked at: a closed pool is noticed then, and a peer that vanished.
    private static let heartbeat = Duration.seconds(30)

    func run(_ yield: @Sendable (PostgresNotification) -> Void) async {
        var backoff = Backoff()
        while !Task.isCancelled, !pool.isClosed {
            do {
                let raw = try await Connector(configuration: pool.configuration, logger: pool.logger).connect()
                let connection = PostgresConnection(raw, configuration: pool.configuration)
                for channel in channels {
                    let quoted = channel.split(separator: "\"", omittingEmptySubsequences: false).joined(
                        separator: "\"\"")
                    try await connection.query(PostgresQuery(unsafeSQL: "listen \"\(quoted)\""))
                }
                yield(.listening)
                backoff = Backoff()
                try await hear(connection, yield)
            } catch {
                if Task.isCancelled || pool.isClosed { return }
                pool.logger.debug("listening was interrupted", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: backoff.next())
            }
        }
    }

    private func hear(_ connection: PostgresConnection, _ yield: (PostgresNotification) -> Void) async throws {
        let pointer = connection.raw.pointer
        while !Task.isCancelled, !pool.isClosed {
            while let notification = PQnotifies(pointer) {
                let heard = PostgresNotification.notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra))
                PQfreemem(notification)
                yield(heard)
            }
            let outcome = await SocketLoop.of(connection.raw.socket).wait(
                for: .read, on: connection.raw.socket, until: ContinuousClock.now + Self.heartbeat, isCancellable: true)
            switch outcome {
            case .cancelled: return
            case .timedOut: try await connection.query("select 1")
            case .ready:
                guard PQconsumeInput(pointer) == 1 else {
                    throw PostgresError(.connectionLost, connection.raw.errorMessage)
                }
            }
        }
    }
}

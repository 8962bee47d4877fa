internal import CLibPQ
internal import Logging

/// An event for a listener.
package enum PostgresNotification: Sendable, Hashable {
    /// Listening begins, at the start and after each reconnect. Earlier notifications may be lost.
    case listening
    case notification(channel: String, payload: String)
}

extension PostgresPool {
    /// LISTENs on a separate connection. The stream reconnects by itself. It ends when its consumer stops or the pool
    /// is closed.
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

    /// How long the server may take for an answer before the connection is replaced.
    private static let patience = Duration.seconds(5)

    private var names: Logger.Metadata { ["channels": "\(channels.joined(separator: ", "))"] }

    func run(_ yield: @Sendable (PostgresNotification) -> Void) async {
        var backoff = Backoff()
        var isInterrupted = false
        while !Task.isCancelled, !pool.isClosed {
            do {
                let generation = pool.generation
                let raw = try await Connector(configuration: pool.configuration, logger: pool.logger).connect()
                let connection = PostgresConnection(raw, configuration: pool.configuration, generation: generation)
                for channel in channels {
                    let quoted = channel.split(separator: "\"", omittingEmptySubsequences: false).joined(
                        separator: "\"\"")
                    try await connection.query(
                        PostgresQuery(unsafeSQL: "listen \"\(quoted)\""), deadline: Self.patience)
                }
                yield(.listening)
                backoff = Backoff()
                if isInterrupted { pool.logger.notice("listening again", metadata: names) }
                isInterrupted = false
                try await hear(connection, yield)
            } catch {
                if Task.isCancelled || pool.isClosed { return }
                // Warn only once for an outage.
                pool.logger.log(
                    level: isInterrupted ? .debug : .warning,
                    "the database's notifications (LISTEN) cannot be received; trying again",
                    metadata: names.merging(["error": "\(error)"]) { $1 })
                isInterrupted = true
                try? await Task.sleep(for: backoff.next())
            }
        }
    }

    private func hear(_ connection: PostgresConnection, _ yield: (PostgresNotification) -> Void) async throws {
        let pointer = connection.raw.pointer
        while !Task.isCancelled, !pool.isClosed {
            guard connection.generation == pool.generation else {
                throw PostgresError(.connectionLost, "the server accepts no writes any more")
            }
            while let notification = PQnotifies(pointer) {
                let received = PostgresNotification.notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra))
                PQfreemem(notification)
                yield(received)
            }
            let outcome = await SocketLoop.of(connection.raw.socket).wait(
                for: .read, on: connection.raw.socket,
                until: ContinuousClock.now + pool.configuration.listenerHeartbeat,
                isCancellable: true)
            switch outcome {
            case .cancelled: return
            case .timedOut:
                // The loop now checks whether the pool was closed. The query finds out whether the server has
                // disappeared or no longer accepts writes.
                try await connection.query("select 1", deadline: Self.patience)
                if pool.configuration.mustWrite, connection.isReadOnly { pool.leave(connection.generation) }
            case .ready:
                guard PQconsumeInput(pointer) == 1 else {
                    throw PostgresError(.connectionLost, connection.raw.errorMessage)
                }
            }
        }
    }
}

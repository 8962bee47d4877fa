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
            let task = Task {
                await listen(on: channels) { continuation.yield($0) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func listen(on channels: [String], _ yield: @Sendable (PostgresNotification) -> Void) async {
        let names: Logger.Metadata = ["channels": "\(channels.joined(separator: ", "))"]
        var backoff = Backoff()
        var isInterrupted = false
        while !Task.isCancelled, !isClosed {
            do {
                let connection = try await connector.connect(generation: generation)
                for channel in channels {
                    let quoted = channel.replacing("\"", with: "\"\"")
                    try await connection.query(PostgresQuery(unsafeSQL: "listen \"\(quoted)\""))
                }
                yield(.listening)
                backoff = Backoff()
                if isInterrupted { logger.notice("listening again", metadata: names) }
                isInterrupted = false
                try await hear(connection, yield)
            } catch {
                if Task.isCancelled || isClosed { return }
                // Warn only once for an outage.
                logger.log(
                    level: isInterrupted ? .debug : .warning,
                    "the database's notifications (LISTEN) cannot be received; trying again",
                    metadata: names.merging(["error": "\(error)"]) { $1 })
                isInterrupted = true
                try? await Task.sleep(for: backoff.next())
            }
        }
    }

    private func hear(_ connection: PostgresConnection, _ yield: (PostgresNotification) -> Void) async throws {
        let pointer = connection.pointer
        while !Task.isCancelled, !isClosed {
            guard connection.generation == generation else {
                throw PostgresError(.connectionLost, "the server accepts no writes any more")
            }
            while let notification = PQnotifies(pointer) {
                let received = PostgresNotification.notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra))
                PQfreemem(notification)
                yield(received)
            }
            let outcome = await SocketLoop.of(connection.socket).wait(
                for: connection.socket, until: .now + configuration.listenerHeartbeat)
            switch outcome {
            case .cancelled: return
            case .timedOut:
                // The loop now checks whether the pool was closed. The query finds out whether the server has
                // disappeared or no longer accepts writes.
                try await connection.query("select 1")
                if configuration.mustWrite, connection.isReadOnly { leave(connection.generation) }
            case .ready:
                guard PQconsumeInput(pointer) == 1 else {
                    throw PostgresError(.connectionLost, connection.errorMessage)
                }
            }
        }
    }
}

internal import CLibPQ
internal import Logging

/// An event for a listener.
package enum PostgresNotification: Sendable, Hashable {
    /// Listening begins, at the start and after each reconnect. Earlier notifications may be lost.
    case listening
    case notification(channel: String, payload: String)
}

extension PostgresPool {
    /// LISTENs on a separate connection to channels, whose names are constants of the program. The stream reconnects by itself. It ends when its consumer stops or the pool
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
        while !Task.isCancelled, !isClosed {
            do {
                let connection = try await connector.connect(generation: generation)
                let statements = channels.map { "listen \"\($0)\"" }.joined(separator: "; ")
                try await connection.script(statements, .init(end: .now + configuration.queryTimeout))
                yield(.listening)
                try await receive(connection, yield)
            } catch {
                if Task.isCancelled || isClosed { return }
                logger.debug("notifications (LISTEN) cannot be received; trying again", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: Self.retryPause)
            }
        }
    }

    private func receive(_ connection: PostgresConnection, _ yield: (PostgresNotification) -> Void) async throws {
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
                if configuration.mustWrite, connection.isReadOnly { failOver(connection.generation) }
            case .ready:
                guard PQconsumeInput(pointer) == 1 else {
                    throw PostgresError(.connectionLost, connection.errorMessage)
                }
            }
        }
    }
}

internal import CLibPQ
internal import Logging

#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// Owns one `PGconn`. Two tasks must not use it at the same time; `PostgresConnection` guarantees that.
final class LibPQConnection: @unchecked Sendable {
    let pointer: OpaquePointer
    private let notices: Unmanaged<NoticeBook>

    /// - Parameter hearer: receives the notices.
    init(_ pointer: OpaquePointer, notices hearer: PostgresNotices? = nil, logger: Logger) {
        self.pointer = pointer
        notices = Unmanaged.passRetained(NoticeBook(hearer, logger))
        // libpq would print notices to standard error.
        PQsetNoticeReceiver(
            pointer,
            { context, result in
                guard let context, let result else { return }
                Unmanaged<NoticeBook>.fromOpaque(context).takeUnretainedValue().note(PostgresError(result: result))
            }, notices.toOpaque())
    }

    deinit {
        notices.takeUnretainedValue().handOut()
        SocketLoop.of(PQsocket(pointer)).forget(PQsocket(pointer))
        PQfinish(pointer)
        notices.release()
    }

    /// Reports the collected notices, unless their transaction is still open.
    func handOutNotices() {
        guard !isInTransaction || isBroken else { return }
        notices.takeUnretainedValue().handOut()
    }

    /// Whether the server has sent a warning since this was last set to `false`.
    var hasWarned: Bool {
        get { notices.takeUnretainedValue().hasWarned }
        set { notices.takeUnretainedValue().hasWarned = newValue }
    }

    var socket: Int32 { PQsocket(pointer) }
    var isBroken: Bool { PQstatus(pointer) != CONNECTION_OK || PQsocket(pointer) < 0 }
    var errorMessage: String { String(cString: PQerrorMessage(pointer)).trimmed }
    var isInTransaction: Bool { PQtransactionStatus(pointer) != PQTRANS_IDLE }

    /// Whether nothing is being sent or received, so that another task may use the connection.
    var isClean: Bool {
        !isBroken && PQtransactionStatus(pointer) == PQTRANS_IDLE && PQpipelineStatus(pointer) == PQ_PIPELINE_OFF
    }

    /// Whether the server last reported that it accepts no writes: it is a standby, or its transactions are read-only
    /// by default. The server reports this state with the answer to a query; servers before PostgreSQL 14 never report
    /// it.
    var isReadOnly: Bool { isOn("in_hot_standby") || isOn("default_transaction_read_only") }

    private func isOn(_ parameter: StaticString) -> Bool {
        parameter.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) { name in
                guard let start = name.baseAddress, let value = PQparameterStatus(pointer, start) else { return false }
                return strcmp(value, "on") == 0
            }
        }
    }

    /// Whether data has arrived that answers no query. Such data on an idle connection means that the server has closed
    /// the connection, so the connection must not be used again.
    var hasUnexpectedInput: Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }
}

/// Collects the notices that have the `sqlState` of `hearer`, until their transaction has ended. All other notices of
/// the server are only logged. libpq calls `note` on the task that uses the connection.
private final class NoticeBook {
    private let hearer: PostgresNotices?
    private let logger: Logger
    private var kept: [String] = []
    var hasWarned = false

    init(_ hearer: PostgresNotices?, _ logger: Logger) {
        self.hearer = hearer
        self.logger = logger
    }

    func note(_ notice: PostgresError) {
        if notice.sqlState == .warning { hasWarned = true }
        if let hearer, notice.sqlState == hearer.sqlState {
            kept.append(notice.message)
        } else {
            logger.debug("notice from PostgreSQL", metadata: ["notice": "\(notice.message.trimmed)"])
        }
    }

    func handOut() {
        guard let hearer, !kept.isEmpty else { return }
        let messages = kept
        kept = []
        hearer.hear(messages)
    }
}

internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import JSON
internal import NIOCore
internal import Synchronization

/// Writes updates as `text/event-stream` (WHATWG HTML 9.2) to a reader that may stop reading.
struct EventStreamWriter: Sendable {
    var settings = StreamSettings()

    /// The reader took no bytes for `stallTimeout`.
    struct SlowReader: Error {}

    /// Writes until the updates end, or until `isAdmitted` returns `false`. `isAdmitted` is called before every
    /// heartbeat.
    ///
    /// - Throws: when the reader is gone, or takes nothing for `stallTimeout`. The caller then has to cut the
    ///   connection.
    func write(
        _ updates: AsyncStream<LiveUpdate>, to writer: any ResponseBodyWriter,
        while isAdmitted: @escaping @Sendable () async -> Bool
    ) async throws {
        try await run(to: writer) { put in
            for await update in updates {
                if update.content == .heartbeat { guard await isAdmitted() else { return } }
                try await put(Self.text(update))
            }
        }
    }

    /// Writes the texts that `body` passes to `put`, until `body` returns.
    ///
    /// - Throws: when the reader is gone, or takes nothing for `stallTimeout`.
    func run(
        to writer: any ResponseBodyWriter,
        _ body: @escaping @Sendable (_ put: @Sendable (String) async throws -> Void) async throws -> Void
    ) async throws {
        let pen = Pen(writer)
        let watch = StallWatch(stallTimeout: settings.stallTimeout)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await watch.timed { try await pen.put("retry: \(settings.retry)\n\n") }
                try await body { text in try await watch.timed { try await pen.put(text) } }
            }
            group.addTask {
                while !watch.hasStalled { try await Task.sleep(for: settings.stallTimeout / 4) }
                throw SlowReader()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// One update in the stream's syntax. It needs one `data` line, because this server's JSON has no line breaks.
    static func text(_ update: LiveUpdate) -> String {
        let (name, json): (String, [UInt8])
        switch update.content {
        case .heartbeat: return ": still here\n\n"
        case .snapshot(let board): (name, json) = ("snapshot", JSONWriter.text(Contract.LiveBoard(board)))
        case .broadcast(let summary): (name, json) = ("broadcast", JSONWriter.text(Contract.BroadcastSummary(summary)))
        case .state(let state):
            (name, json) = ("state", JSONWriter.text(Contract.EventStateChange(state: .init(state))))
        }
        let id = update.tag.map { "id: \($0)\n" } ?? ""
        return "\(id)event: \(name)\ndata: \(String(decoding: json, as: UTF8.self))\n\n"
    }

    /// Wraps the response's writer for the one task that writes. `ResponseBodyWriter` is not `Sendable`. `@unchecked`
    /// is safe here, because only this task uses the writer.
    private final class Pen: @unchecked Sendable {
        private var writer: any ResponseBodyWriter

        init(_ writer: any ResponseBodyWriter) { self.writer = writer }

        func put(_ text: String) async throws { try await writer.write(ByteBuffer(string: text)) }
    }
}

/// How long the present write has taken.
private final class StallWatch: Sendable {
    private let stallTimeout: Duration
    private let since = Mutex<ContinuousClock.Instant?>(nil)

    init(stallTimeout: Duration) { self.stallTimeout = stallTimeout }

    var hasStalled: Bool { since.withLock { $0.map { ContinuousClock.now - $0 > stallTimeout } ?? false } }

    func timed(_ write: () async throws -> Void) async throws {
        since.withLock { $0 = .now }
        defer { since.withLock { $0 = nil } }
        try await write()
    }
}

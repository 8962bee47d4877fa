package import Grandstand
internal import Synchronization

/// The source of processes that only read, at a standby. Sessions get no notifications there, so all changes are found
/// in the journal.
///
/// Another server may be behind the server before it, or on another timeline. So everything is read again when the
/// server changes.
package final class StandbyLookupSource: LookupSource {
    private let base: PostgresLookupSource
    private let server = Mutex<String?>(nil)
    private let stream = AsyncStream.makeStream(of: LookupAnnouncement.self, bufferingPolicy: .bufferingNewest(1))

    package init(_ base: PostgresLookupSource) {
        self.base = base
        stream.continuation.yield(.listening)
    }

    package func announcements() -> AsyncStream<LookupAnnouncement> { stream.stream }

    package func position() async throws -> LookupPosition {
        let (_, position, server) = try await base.changesAtStandby(since: .newest)
        note(server)
        return position
    }

    package func changes(
        since position: LookupPosition
    ) async throws -> (changes: [LookupChange], position: LookupPosition) {
        let (changes, end, server) = try await base.changesAtStandby(since: position)
        note(server)
        return (changes, end)
    }

    /// Does nothing: processes that write do that.
    package func tidy() async throws {}

    package func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] {
        try await base.records(of: keys)
    }

    package func page(
        after: EventKey?, limit: Int
    ) async throws -> (records: [EventKey: [LookupRecord]], next: EventKey?) {
        try await base.page(after: after, limit: limit)
    }

    private func note(_ server: String) {
        let isAnother = self.server.withLock { known in
            defer { known = server }
            return known.map { $0 != server } ?? false
        }
        if isAnother { stream.continuation.yield(.listening) }
    }
}

internal import Foundation
public import GrandstandContract

extension GrandstandClient {
    /// The changes of an event and its broadcasts as they happen: first a snapshot, then every change.
    ///
    /// If the connection is lost, the client connects again, until the task is cancelled or the caller stops reading
    /// the updates. If something has changed since the last update, a new snapshot comes first.
    ///
    /// - Parameters:
    ///   - after: the `id` of an earlier update. If nothing has changed since, there is no snapshot.
    ///   - connection: called whenever the connection opens, is lost or is refused temporarily.
    /// - Returns: the updates. The stream throws `ServerProblem` for a permanent refusal, e.g. `eventNotFound`.
    public func stream(
        _ eventKey: String, after: String? = nil, connection: @escaping @Sendable (StreamConnection) -> Void = { _ in }
    ) -> AsyncThrowingStream<EventUpdate, any Error> {
        let (updates, continuation) = AsyncThrowingStream<EventUpdate, any Error>.makeStream()
        let reader = Task {
            do {
                try await follow(eventKey, after: after, connection) { continuation.yield($0) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in reader.cancel() }
        return updates
    }

    private func follow(
        _ eventKey: String, after: String?, _ connection: (StreamConnection) -> Void,
        _ tell: (EventUpdate) -> Void
    ) async throws {
        var last = after
        var failures = 0
        while true {
            var asked: Double?
            do {
                var request = try request(Call<Void>.streamEvent(eventKey).with("Last-Event-ID", last))
                // The server sends heartbeats more often than this.
                request.timeout = max(timeout, 60)
                let response = try await transport.open(request)
                guard response.status == 200 else { throw ServerProblem(try await response.whole()) }
                connection(.open)
                var parser = EventStreamParser()
                for try await piece in response.body {
                    for message in parser.take(piece) {
                        tell(try EventUpdate(message))
                        failures = 0
                    }
                    last = parser.lastID ?? last
                    asked = parser.retry.map { Double($0) / 1000 }
                }
            } catch let problem as ServerProblem where problem.status != 429 && problem.status < 500 {
                throw problem
            } catch let problem as ServerProblem {
                asked = problem.retryAfter.map(Double.init)
                connection(.lost(problem))
            } catch let error as URLError where RetryPolicy.mayPass(error) {
                connection(.lost(error))
            }
            try Task.checkCancellation()
            failures += 1
            let wait = retry.ceiling(min(failures, 10)) * time.chance()
            try await time.sleep(wait + Double(asked ?? 0))
        }
    }

    /// All entries of a list. Pages are fetched while the entries are read.
    ///
    ///     for try await event in client.entries(of: .listEvents(state: .live)) { … }
    public func entries<Item>(of list: Call<Page<Item>>) -> AsyncThrowingStream<Item, any Error> {
        let pages = Pages(client: self, list: list)
        return AsyncThrowingStream { try await pages.next() }
    }

    /// The position in a list.
    private actor Pages<Item: Sendable & Hashable & Codable> {
        private let client: GrandstandClient
        private let list: Call<Page<Item>>
        private var items: [Item].SubSequence = []
        private var cursor: String?
        private var isAtEnd = false

        init(client: GrandstandClient, list: Call<Page<Item>>) {
            self.client = client
            self.list = list
        }

        func next() async throws -> Item? {
            while items.isEmpty {
                if isAtEnd { return nil }
                let page = try await client.send(list.page(after: cursor))
                items = page.items[...]
                cursor = page.nextCursor
                isAtEnd = cursor == nil
            }
            return items.removeFirst()
        }
    }
}

public import GrandstandContract

extension GrandstandClient {
    /// All entries of a list. Pages are fetched while the entries are read.
    ///
    ///     for try await event in client.entries(of: .listEvents(state: .live)) { … }
    public func entries<Item>(of list: Call<Page<Item>>) -> AsyncThrowingStream<Item, any Error> {
        let pages = Pages(client: self, next: list)
        return AsyncThrowingStream { try await pages.next() }
    }

    /// The position in a list.
    private actor Pages<Item: Sendable & Hashable & Codable> {
        private let client: GrandstandClient
        private var items: [Item].SubSequence = []
        /// `nil`: the last page was read.
        private var nextPage: Call<Page<Item>>?

        init(client: GrandstandClient, next: Call<Page<Item>>) {
            self.client = client
            nextPage = next
        }

        func next() async throws -> Item? {
            while items.isEmpty {
                guard let call = nextPage else { return nil }
                let page = try await client.send(call)
                items = page.items[...]
                nextPage = page.nextCursor.map { call.page(after: $0) }
            }
            return items.removeFirst()
        }
    }
}

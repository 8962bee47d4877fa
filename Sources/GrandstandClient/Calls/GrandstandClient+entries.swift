public import GrandstandContract

extension GrandstandClient {
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

extension GrandstandClient {
    /// A part of a list.
    public struct Page<Item: Sendable & Hashable & Codable>: Sendable, Hashable, Codable {
        /// The entries.
        public var items: [Item]
        /// What to ask the next page with; nil at the end.
        public var nextCursor: String?

        /// A page of these.
        public init(items: [Item], nextCursor: String? = nil) {
            self.items = items
            self.nextCursor = nextCursor
        }
    }
}

package import JSON

extension Contract {
    /// A part of a list.
    public struct Page<Item: Sendable & Hashable & Codable>: Sendable, Hashable, Codable {
        /// The entries.
        public var items: [Item]
        /// The cursor for the request of the next page; `nil`: this is the last page.
        public var nextCursor: String?

        /// A page with these entries.
        public init(items: [Item], nextCursor: String? = nil) {
            self.items = items
            self.nextCursor = nextCursor
        }
    }
}

/// An object of an answer whose optional members are null if they have no value.
package protocol ContractAnswer: WritesNulls {}

extension ContractAnswer {
    package static var leftOut: [String] { [] }
}

extension Contract.Page: ContractAnswer {}

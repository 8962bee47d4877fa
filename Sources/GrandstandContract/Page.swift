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

extension Contract.Page: ContractValue, JSONReadable, JSONWritable where Item: ContractValue {
    package init(json: JSONValue) throws {
        let members = try JSONMembers(json)
        self.init(items: try members.required("items"), nextCursor: try members.optional("nextCursor"))
    }

    package func write(to json: inout JSONWriter) {
        json.object { object in
            object.member("items", items)
            object.member("nextCursor", nextCursor)
        }
    }
}

extension GrandstandClient {
    /// Two parts of one JSON object: members of either are members of this.
    @dynamicMemberLookup
    public struct Joined<Base: Sendable & Hashable & Codable, More: Sendable & Hashable & Codable>: Sendable, Hashable {
        /// What it has in common with others.
        public var base: Base
        /// What it has besides.
        public var more: More

        init(_ base: Base, _ more: More) {
            self.base = base
            self.more = more
        }

        /// Members of the one part.
        public subscript<Member>(dynamicMember path: KeyPath<Base, Member>) -> Member { base[keyPath: path] }

        /// Members of the other.
        public subscript<Member>(dynamicMember path: KeyPath<More, Member>) -> Member { more[keyPath: path] }
    }
}

extension GrandstandClient.Joined: Codable {
    /// Reads both out of one object.
    public init(from decoder: any Decoder) throws { self.init(try Base(from: decoder), try More(from: decoder)) }

    /// Writes both into one object.
    public func encode(to encoder: any Encoder) throws {
        try base.encode(to: encoder)
        try more.encode(to: encoder)
    }
}

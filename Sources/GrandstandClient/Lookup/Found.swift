public import Foundation

extension GrandstandClient {
    /// What a lookup found, and how it is known. Members of the value are members of this.
    @dynamicMemberLookup
    public struct Found<Value: Sendable>: Sendable {
        /// What was found.
        public let value: Value
        /// How it is known.
        public let origin: Origin
        /// When the server said so.
        public let asOf: Date

        /// How an answer is known.
        public enum Origin: Sendable, Hashable {
            /// The server said so just now.
            case server
            /// The server said so lately, and that it may be kept so long.
            case cache
            /// The server cannot be asked; this is what it said last.
            case stale
        }

        /// An answer.
        public init(_ value: Value, origin: Origin, asOf: Date) {
            self.value = value
            self.origin = origin
            self.asOf = asOf
        }

        /// Members of the value.
        public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
    }
}

extension GrandstandClient.Found: Equatable where Value: Equatable {}

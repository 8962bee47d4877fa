public import Foundation

extension GrandstandClient {
    /// The result of a lookup, and where it comes from. The value's members can be read directly.
    @dynamicMemberLookup
    public struct Found<Value: Sendable>: Sendable {
        /// The result.
        public let value: Value
        /// Where the result comes from.
        public let origin: Origin
        /// When the server gave the answer.
        public let asOf: Date

        /// Where an answer comes from.
        public enum Origin: Sendable, Hashable {
            /// The server gave or confirmed the answer just now.
            case server
            /// The answer comes from the cache. It is recent enough that the server need not be asked.
            case cache
            /// The answer comes from the cache, because the server cannot be asked. It is the server's last answer and
            /// may be out of date.
            case stale
        }

        /// Members of the value.
        public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
    }
}

extension GrandstandClient.Found: Equatable where Value: Equatable {}

/// The contract in openapi.yaml: resources, enumerations, kinds of problems and operations. `make contract` writes the
/// types in `Generated/`. Only these types define the JSON of a resource.
public enum Contract {
    /// An operation of the API. The server uses it for routing, and the client for requests.
    public struct Operation: Sendable, Hashable {
        /// The `operationId` of the operation.
        public let id: String
        /// The HTTP method, in capitals.
        public let method: String
        /// The path with `{name}` for its parameters.
        public let path: String
        /// The key needs one of these scopes. Empty: any key, except one that is only for installations of an app;
        /// `nil`: no key is needed.
        public let scopes: [Scope]?
        /// The names of the operation's parameters in the query.
        public let query: [String]
        /// Whether the operation takes an `Idempotency-Key`. If it does, the server stores the first answer, and gives
        /// this answer again when the request is repeated.
        public let keepsAnswers: Bool
        /// The member that only the first answer has, because it is a secret; `nil`: there is none.
        public let shownOnce: String?

        /// - Parameter scopes: `nil` for a call without a key.
        package init(
            _ id: String, _ method: String, _ path: String, scopes: [Scope]?, query: [String], keepsAnswers: Bool,
            shownOnce: String? = nil
        ) {
            self.id = id
            self.method = method
            self.path = path
            self.scopes = scopes
            self.query = query
            self.keepsAnswers = keepsAnswers
            self.shownOnce = shownOnce
        }
    }
}

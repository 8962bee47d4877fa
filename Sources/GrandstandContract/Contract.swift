/// What openapi.yaml says: resources, words, kinds of problems and operations. `make contract` writes the types in
/// `Generated/`; a resource has its shape in JSON there and nowhere else.
public enum Contract {
    /// A call of the API: what the server routes by, and what the client sends.
    public struct Operation: Sendable, Hashable {
        /// Its `operationId`.
        public let id: String
        /// The HTTP method, in capitals.
        public let method: String
        /// The path with `{name}` for its parameters.
        public let path: String
        /// The scopes of which a key needs one; empty: any key but one that is only an app's; `nil`: it needs no key.
        public let scopes: [Scope]?
        /// The names of its parameters in the query.
        public let query: [String]
        /// It takes an `Idempotency-Key`: its first answer is kept, and given again when the request is repeated.
        public let keepsAnswers: Bool

        /// - Parameter scopes: `nil` for a call without a key.
        package init(
            _ id: String, _ method: String, _ path: String, scopes: [Scope]?, query: [String], keepsAnswers: Bool
        ) {
            self.id = id
            self.method = method
            self.path = path
            self.scopes = scopes
            self.query = query
            self.keepsAnswers = keepsAnswers
        }
    }
}

internal import Grandstand
internal import GrandstandContract
internal import Hummingbird
internal import Logging

/// The data of a request that the surrounding API passes to the console.
struct ConsoleSource: RequestContextSource, Sendable {
    let logger: Logger
    /// Identifies the request, so that people can find it in the log.
    let requestID: String
    /// Shared with the surrounding API, so that its metrics contain the page's path.
    let endpointPath: EndpointPath
    let access: ConsoleAccess
}

/// The functions of the surrounding API that the console needs for one request.
struct ConsoleAccess: Sendable {
    /// Returns the key with this secret. Throws `unauthenticated`, which counts as a failure of the caller's address,
    /// and `rate-limited`.
    let identify: @Sendable (_ secret: String) async throws -> APIKey
    /// Counts a request of a key; throws `rate-limited`.
    let countRequest: @Sendable (APIKey) throws -> Void
    /// Counts a wrong secret against the caller's address. Returns a problem with the detail, or `rate-limited` after
    /// too many failures.
    let refusal: @Sendable (_ detail: String) -> Problem
    /// Calls an operation of the API with a key.
    let perform: @Sendable (PageCall, APIKey) async throws -> Response
}

/// The context of a request in the console.
struct ConsoleContext: RequestContext {
    typealias Source = ConsoleSource

    var coreContext: CoreRequestContextStorage
    let source: ConsoleSource

    init(source: ConsoleSource) {
        self.source = source
        coreContext = CoreRequestContextStorage(source: source)
        coreContext.endpointPath = source.endpointPath
    }
}

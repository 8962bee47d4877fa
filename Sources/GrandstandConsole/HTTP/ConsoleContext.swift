package import Grandstand
package import Hummingbird
package import Logging

/// What a request brings to the console from whatever is around it.
package struct ConsoleSource: RequestContextSource, Sendable {
    package let logger: Logger
    /// Names the request, for people to find it in the log.
    let requestID: String
    /// Shared with what is around it, so that metrics name the page.
    let endpointPath: EndpointPath
    /// Whose key a secret is; throws `unauthenticated`, `rate-limited`.
    let identify: @Sendable (_ secret: String) async throws -> APIKey

    package init(
        logger: Logger, requestID: String, endpointPath: EndpointPath,
        identify: @escaping @Sendable (_ secret: String) async throws -> APIKey
    ) {
        self.logger = logger
        self.requestID = requestID
        self.endpointPath = endpointPath
        self.identify = identify
    }
}

/// A request's way through the console.
package struct ConsoleContext: RequestContext {
    package typealias Source = ConsoleSource

    package var coreContext: CoreRequestContextStorage
    let source: ConsoleSource

    package init(source: ConsoleSource) {
        self.source = source
        coreContext = CoreRequestContextStorage(source: source)
        coreContext.endpointPath = source.endpointPath
    }
}

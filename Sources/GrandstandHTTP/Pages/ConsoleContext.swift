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
    let door: ConsoleDoor

    package init(logger: Logger, requestID: String, endpointPath: EndpointPath, door: ConsoleDoor) {
        self.logger = logger
        self.requestID = requestID
        self.endpointPath = endpointPath
        self.door = door
    }
}

/// What the console needs of the API around it, for one request.
package struct ConsoleDoor: Sendable {
    package typealias Once =
        @Sendable (
            _ name: String, SignedIn, _ recover: FormRecovery?, _ work: @escaping @Sendable () async throws -> [UInt8]
        ) async throws -> [UInt8]

    /// Whose key a secret is; throws `unauthenticated`, counted for the address, and `rate-limited`.
    let identify: @Sendable (_ secret: String) async throws -> APIKey
    /// Counts a request of a key; throws `rate-limited`.
    let resume: @Sendable (APIKey) throws -> Void
    /// Counts a wrong secret for the address; says what it is given, or when to come again.
    let refusal: @Sendable (_ detail: String) -> Problem
    /// Carries out work of a form once, and keeps its answer under a name, sealed for the session.
    let once: Once
    /// The answer that is kept for a session that is over; throws `unauthenticated` where nothing is kept.
    let answered: @Sendable (_ name: String, PastSession) async throws -> [UInt8]

    package init(
        identify: @escaping @Sendable (_ secret: String) async throws -> APIKey,
        resume: @escaping @Sendable (APIKey) throws -> Void, refusal: @escaping @Sendable (String) -> Problem,
        once: @escaping Once,
        answered: @escaping @Sendable (_ name: String, PastSession) async throws -> [UInt8]
    ) {
        self.identify = identify
        self.resume = resume
        self.refusal = refusal
        self.once = once
        self.answered = answered
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

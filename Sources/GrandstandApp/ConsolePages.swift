internal import GrandstandAPI
internal import GrandstandConsole
internal import Hummingbird

extension MountedPages {
    /// The console, let in by the API's keys and counted with its requests.
    static func console(_ console: Console) -> MountedPages {
        let responder = console.responder()
        return MountedPages(path: Console.path) { request, context, identify in
            let source = ConsoleSource(
                logger: context.logger, requestID: context.requestID, endpointPath: context.coreContext.endpointPath,
                identify: identify)
            return try await responder.respond(to: request, context: ConsoleContext(source: source))
        }
    }
}

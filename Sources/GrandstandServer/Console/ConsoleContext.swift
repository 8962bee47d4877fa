internal import Hummingbird

/// The context of a request in the console.
struct ConsoleContext: RequestContext {
    typealias Source = PageAccess

    var coreContext: CoreRequestContextStorage
    let access: PageAccess

    init(source: PageAccess) {
        access = source
        coreContext = CoreRequestContextStorage(source: source)
        // The metrics of the surrounding API contain the page's path.
        coreContext.endpointPath = source.context.coreContext.endpointPath
    }
}

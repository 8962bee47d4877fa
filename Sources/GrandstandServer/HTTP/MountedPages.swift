internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// Pages below one path, such as the console. They are not operations of the API, so the contract does not list them,
/// and they parse their requests and answer their errors themselves. They share request IDs, logs, metrics, limits and
/// common headers with the API.
struct MountedPages: Sendable {
    typealias Respond = @Sendable (Request, APIContext, PageAccess) async throws -> Response

    /// `/console`. The pages answer for this path and for everything below it.
    let path: String
    let respond: Respond

    func mount(on router: Router<APIContext>, access: @escaping @Sendable (APIContext) -> PageAccess) {
        for path in [path, path + "/**"] {
            for method in [HTTPRequest.Method.get, .post] {
                router.on(RouterPath(path), method: method) { [respond] request, context in
                    try await respond(request, context, access(context))
                }
            }
        }
    }
}

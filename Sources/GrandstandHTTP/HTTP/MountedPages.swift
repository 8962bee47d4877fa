internal import Grandstand
internal import HTTPTypes
package import Hummingbird

/// Pages below a path of their own. They are no operations of the API, so its contract does not list them: they read
/// their own requests and answer their own refusals. What is around every request is around theirs, too: names, logs,
/// metrics, limits, standing headers.
package struct MountedPages: Sendable {
    package typealias Respond = @Sendable (Request, APIContext, PageDoor) async throws -> Response

    /// `/console`: that path, and all below it.
    let path: String
    let respond: Respond

    package init(path: String, respond: @escaping Respond) {
        self.path = path
        self.respond = respond
    }

    func mount(on router: Router<APIContext>, gate: Gate, idempotency: Idempotency) {
        for path in [path, path + "/**"] {
            for method in [HTTPRequest.Method.get, .post] {
                router.on(RouterPath(path), method: method) { [respond] request, context in
                    try await respond(
                        request, context, PageDoor(gate: gate, idempotency: idempotency, context: context))
                }
            }
        }
    }
}

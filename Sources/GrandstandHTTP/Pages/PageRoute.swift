internal import Grandstand

/// One page for signed-in people: where it is, which scope it takes, what it shows.
struct PageRoute: Sendable {
    typealias Handler = @Sendable (Visit) async throws -> Answer

    enum Answer: Sendable {
        case page(any ConsolePage)
        /// Somewhere else in the console.
        case elsewhere(String)
        /// Somewhere else, which says what was done.
        case done(String, notice: String)
        /// The page again with what is wrong, under the refusal's status.
        case refused(any ConsolePage, status: Int)
    }

    /// Hummingbird's syntax, from the root: `/console/events/:key`.
    let path: String
    /// `nil`: any key.
    let scope: APIKey.Scope?
    let handler: Handler

    init(_ path: String, _ scope: APIKey.Scope?, _ handler: @escaping Handler) {
        self.path = Console.path + path
        self.scope = scope
        self.handler = handler
    }
}

/// Pages that belong together, and what their forms do. A form is sent to where what it does is named:
/// `/console/keys/{id}/revoke`.
protocol PageGroup: Sendable {
    var routes: [PageRoute] { get }
    var actions: [ActionRoute] { get }
}

extension PageGroup {
    var routes: [PageRoute] { [] }
    var actions: [ActionRoute] { [] }
}

internal import Grandstand
internal import GrandstandContract

/// One page: its path, the scope it requires, and its handler.
struct PageRoute: Sendable {
    typealias Handler = @Sendable (Visit) async throws -> Answer

    enum Answer: Sendable {
        /// Another status than 200 is that of a refusal, which the page explains.
        case page(any ConsolePage, status: Int = 200)
        /// Redirects to another page of the console, which shows the notice about what was done.
        case elsewhere(String, notice: String? = nil)
    }

    /// The path in Hummingbird's syntax: `/console/events/:key`.
    let path: String
    /// The scope that the page requires; `nil`: every key may see the page.
    let scope: Contract.Scope?
    let handler: Handler

    init(_ path: String, _ scope: Contract.Scope?, _ handler: @escaping Handler) {
        self.path = Console.path + path
        self.scope = scope
        self.handler = handler
    }
}

/// Pages that belong together, and the actions of their forms. A form's address ends with the action:
/// `/console/keys/{id}/revoke`.
protocol PageGroup: Sendable {
    var routes: [PageRoute] { get }
    var actions: [ActionRoute] { get }
}

extension PageGroup {
    var routes: [PageRoute] { [] }
    var actions: [ActionRoute] { [] }
}

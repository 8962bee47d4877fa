internal import Grandstand

/// The problem of a request as the console shows it. Most problems come from the API; some come from the console
/// itself.
struct APIProblem: Error, Sendable, Hashable {
    /// A field of the request, and what is wrong with it.
    struct Fault: Sendable, Hashable {
        var pointer: String
        var detail: String
    }

    var status: Int
    var title: String
    var detail: String
    var faults: [Fault] = []
    /// Seconds after which the same request may succeed.
    var retryAfter: Int?
}

extension APIProblem {
    /// - Returns: `nil` for an error that is not about the request.
    init?(_ error: any Error) {
        switch error {
        case let refused as APIProblem: self = refused
        case let broken as BrokenBody: self.init(broken.problem)
        case let problem as Problem where problem.kind != .internalError:
            self.init(
                status: problem.status,
                title: problem.kind == .notFound ? "No such page" : problem.kind.title, detail: problem.detail,
                faults: problem.errors.map { Fault(pointer: $0.pointer, detail: $0.detail) },
                retryAfter: problem.retryAfter)
            self = inWords
        default: return nil
        }
    }

    /// Rewrites 412 (precondition failed) for people, without the names of headers.
    private var inWords: APIProblem {
        guard status == 412 else { return self }
        return detail == WriteCondition.taken.detail
            ? APIProblem(
                status: status, title: "There is one already",
                detail:
                    "This name is already used. Choose another name, or open the page of the one that exists and "
                    + "change it there."
            )
            : APIProblem(
                status: status, title: "It was changed meanwhile",
                detail:
                    "It was changed or deleted since its page was made, so nothing was sent. Its page, opened again, "
                    + "shows what is there now.")
    }
}

internal import Grandstand

extension Problem {
    /// A problem that the console itself finds.
    init(_ kind: Kind, titled title: String, _ detail: String, retryAfter: Int? = nil) {
        self.init(kind, detail, retryAfter: retryAfter)
        self.title = title
    }

    /// The problem as the console shows it.
    ///
    /// - Returns: `nil` for an error that is not about the request.
    init?(shown error: any Error) {
        switch error {
        case let broken as BrokenBody: self = broken.problem
        case let problem as Problem where problem.kind != .internalError: self = problem
        default: return nil
        }
        if kind == .notFound { title = "No such page" }
        guard status == 412 else { return }
        // The API's detail has the names of headers, which say nothing to people.
        if detail == WriteCondition.taken.detail {
            title = "There is one already"
            detail =
                "This name is already used. Choose another name, or open the page of the one that exists and change it "
                + "there."
        } else {
            title = "It was changed meanwhile"
            detail =
                "It was changed or deleted since its page was made, so nothing was sent. Its page, opened again, shows "
                + "what is there now."
        }
    }
}

internal import Grandstand

/// A refusal, for people.
struct ProblemPage: ConsolePage {
    var template: TemplateName { .problem }
    let title: String
    let detail: String
    /// The request's ID, which the log has, too.
    let requestID: String

    init(_ problem: APIProblem, requestID: String) {
        title = problem.title
        detail = problem.detail
        self.requestID = requestID
    }
}

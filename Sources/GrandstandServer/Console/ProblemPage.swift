internal import Grandstand

struct ProblemPage: ConsolePage {
    var template: TemplateName { .problem }
    let title: String
    let detail: String
    /// The request's ID, which is also in the log.
    let requestID: String

    init(_ problem: APIProblem, requestID: String) {
        title = problem.title
        detail = problem.detail
        self.requestID = requestID
    }
}

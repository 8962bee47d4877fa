internal import Grandstand

/// Why a form was refused: the problem, and the fields to correct. The page shows this refusal with the form.
struct FormRefusal: Sendable {
    let said: String
    let faults: [FieldError]

    /// - Parameter nothing: a sentence that says what did not happen.
    init(_ problem: Problem, nothing: String = "Nothing was changed.") {
        faults = problem.errors
        // What a fault says is not said twice.
        let isSaid = faults.contains { $0.detail == problem.detail }
        said =
            problem.detail.hasPrefix(Self.toCorrect)
            ? problem.detail : isSaid ? nothing : "\(problem.detail) \(nothing)"
    }

    private static let toCorrect = "What is to be corrected:"

    /// The problem of a form with fields that cannot be written into the API's body.
    static func problem(_ faults: [FieldError]) -> Problem { Problem(.invalidRequest, toCorrect, errors: faults) }
}

/// Why a form was refused: the problem, and the fields to correct. The page shows this refusal with the form.
struct FormRefusal: Sendable {
    let said: String
    let faults: [APIProblem.Fault]

    /// - Parameters:
    ///   - faults: fields that could not be written into the API's body.
    ///   - nothing: a sentence that says what did not happen.
    /// - Returns: `nil` if there is neither a problem nor a fault.
    init?(_ problem: APIProblem?, _ faults: [APIProblem.Fault] = [], nothing: String = "Nothing was changed.") {
        guard problem != nil || !faults.isEmpty else { return nil }
        said = problem.map { nothing.isEmpty ? $0.detail : "\($0.detail) \(nothing)" } ?? "What is to be corrected:"
        self.faults = faults + (problem?.faults ?? [])
    }
}

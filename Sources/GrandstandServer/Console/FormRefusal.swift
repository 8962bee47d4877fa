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
        let all = faults + (problem?.faults ?? [])
        // What a fault says is not said twice.
        let isSaid = all.contains { $0.detail == problem?.detail }
        let words = [isSaid ? nil : problem?.detail, problem == nil ? nil : nothing].compactMap(\.self)
        said = words.isEmpty ? "What is to be corrected:" : words.joined(separator: " ")
        self.faults = all
    }
}

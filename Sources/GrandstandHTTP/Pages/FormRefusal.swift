/// Why a form is shown again as it was typed: what the API said of it, and what is to be corrected.
struct FormRefusal: Sendable {
    let said: String
    let faults: [APIProblem.Fault]

    /// - Parameters:
    ///   - faults: what no body could be made of.
    ///   - nothing: what did not happen.
    /// - Returns: `nil` where nothing is wrong.
    init?(_ problem: APIProblem?, _ faults: [APIProblem.Fault] = [], nothing: String = "Nothing was changed.") {
        guard problem != nil || !faults.isEmpty else { return nil }
        said = problem.map { nothing.isEmpty ? $0.detail : "\($0.detail) \(nothing)" } ?? "What is to be corrected:"
        self.faults = faults + (problem?.faults ?? [])
    }
}

internal import Grandstand

/// A form that was not carried out: why, and the form again as it was typed, to be corrected and sent.
struct RefusedForm: ConsolePage {
    struct Field: Sendable {
        let name: String
        let value: String
        /// Longer than a line.
        let isLong: Bool
    }

    var template: TemplateName { .refused }
    let title: String
    let refusal: Refusal?
    /// Where it is sent.
    let action: String
    let fields: [Field]
    let asksForKey: Bool
    let back: String

    /// - Parameters:
    ///   - path: what the form was sent to.
    ///   - back: the page it was on.
    init(_ problem: APIProblem, _ route: ActionRoute, _ form: FormFields, path: String, back: String) {
        title = problem.title
        refusal = Refusal(problem, nothing: "")
        action = path
        fields = form.entries.filter { !["token", "currentKey"].contains($0.name) }.map { entry in
            Field(
                name: entry.name, value: entry.value,
                isLong: entry.value.utf8.count > 60 || entry.value.utf8.contains(UInt8(ascii: "\n")))
        }
        asksForKey = route.irreversible
        self.back = back
    }
}

internal import Grandstand

/// A form that was refused: the reason, and the form as it was typed, to be corrected and sent again.
struct RefusedForm: ConsolePage {
    struct Field: Sendable {
        let name: String
        let value: String
        /// Whether the value needs more than one line.
        let isLong: Bool
    }

    var template: TemplateName { .refused }
    let title: String
    let refusal: FormRefusal?
    /// The address of the form.
    let action: String
    let fields: [Field]
    let asksForKey: Bool
    /// Whether the record was changed after the page was made. If so, the form would be refused again.
    let isOutdated: Bool
    let back: String

    /// - Parameters:
    ///   - path: the address of the form.
    ///   - back: the page that contained the form.
    init(_ problem: APIProblem, _ route: ActionRoute, _ form: FormFields, path: String, back: String) {
        let hidden = ["etag", "version"]
        let isOutdated = problem.status == 412 && hidden.contains { form[$0] != nil }
        self.isOutdated = isOutdated
        title = problem.title
        refusal = FormRefusal(problem, nothing: "")
        action = path
        let left = ["token", "currentKey"] + (isOutdated ? hidden : [])
        fields = form.entries.filter { !left.contains($0.name) }.map { entry in
            Field(
                name: entry.name, value: entry.value,
                isLong: entry.value.utf8.count > 60 || entry.value.utf8.contains(UInt8(ascii: "\n")))
        }
        asksForKey = route.irreversible
        self.back = back
    }
}

/// The templates. Each is a file of the same name, compiled into the binary.
enum TemplateName: String, CaseIterable, Sendable {
    // Partials.
    case layout, agenda, bar, command, facts, form, groups, input, notice, option, pager, pieces, refusal, table
    case time, token
    case confirmKey = "confirm-key"
    case plot
    // Pages.
    case event, events, overview, resource
    case signIn = "sign-in"
    // Pages and partials for organisers.
    case check, composer, content, did, dots, effect, faults, verdict
    case matchPlot = "match-plot"
    case newEvent = "new-event"

    var text: String {
        guard let text = EmbeddedFiles.texts["\(rawValue).mustache"] else {
            preconditionFailure("there is no template \(rawValue)")
        }
        return text
    }
}

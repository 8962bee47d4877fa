/// The templates. Each is a file of the same name, compiled into the binary.
enum TemplateName: String, CaseIterable, Sendable {
    // Partials.
    case layout, bar, command, facts, notice, option, pager, pieces, refusal, table, time, token
    case appForm = "app-form"
    case confirmKey = "confirm-key"
    case plot
    case webhookForm = "webhook-form"
    // Pages.
    case app, apps, audit, channels, event, events, overview, problem, reconciliation, reconciliations, refused
    case key, keys, secret, webhook, webhooks
    case signIn = "sign-in"
    case webhookDelivery = "webhook-delivery"
    // Pages and partials for organisers.
    case check, composer, findings, question, runs
    case matchPlot = "match-plot"
    case newEvent = "new-event"

    var text: String {
        guard let text = EmbeddedFiles.texts["\(rawValue).mustache"] else {
            preconditionFailure("there is no template \(rawValue)")
        }
        return text
    }
}

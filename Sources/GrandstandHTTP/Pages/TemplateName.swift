/// The templates. Each is a file in Templates, compiled into the binary.
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
    case check, composer, findings, question, runs, season
    case matchPlot = "match-plot"
    case seasonEvent = "season-event"
    case newEvent = "new-event"

    var bytes: [UInt8] {
        switch self {
        case .layout: PackageResources.layout_mustache
        case .command: PackageResources.command_mustache
        case .facts: PackageResources.facts_mustache
        case .option: PackageResources.option_mustache
        case .pager: PackageResources.pager_mustache
        case .time: PackageResources.time_mustache
        case .token: PackageResources.token_mustache
        case .confirmKey: PackageResources.confirm_key_mustache
        case .appForm: PackageResources.app_form_mustache
        case .plot: PackageResources.plot_mustache
        case .webhookForm: PackageResources.webhook_form_mustache
        case .key: PackageResources.key_mustache
        case .keys: PackageResources.keys_mustache
        case .secret: PackageResources.secret_mustache
        case .webhook: PackageResources.webhook_mustache
        case .webhooks: PackageResources.webhooks_mustache
        case .webhookDelivery: PackageResources.webhook_delivery_mustache
        case .refused: PackageResources.refused_mustache
        case .bar: PackageResources.bar_mustache
        case .check: PackageResources.check_mustache
        case .composer: PackageResources.composer_mustache
        case .findings: PackageResources.findings_mustache
        case .matchPlot: PackageResources.match_plot_mustache
        case .notice: PackageResources.notice_mustache
        case .pieces: PackageResources.pieces_mustache
        case .refusal: PackageResources.refusal_mustache
        case .table: PackageResources.table_mustache
        case .question: PackageResources.question_mustache
        case .runs: PackageResources.runs_mustache
        case .season: PackageResources.season_mustache
        case .seasonEvent: PackageResources.season_event_mustache
        case .newEvent: PackageResources.new_event_mustache
        case .app: PackageResources.app_mustache
        case .apps: PackageResources.apps_mustache
        case .audit: PackageResources.audit_mustache
        case .channels: PackageResources.channels_mustache
        case .event: PackageResources.event_mustache
        case .events: PackageResources.events_mustache
        case .overview: PackageResources.overview_mustache
        case .problem: PackageResources.problem_mustache
        case .reconciliation: PackageResources.reconciliation_mustache
        case .reconciliations: PackageResources.reconciliations_mustache
        case .signIn: PackageResources.sign_in_mustache
        }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// What one page shows. Templates read the stored properties by their names; a name that a part of the page lacks is
/// looked for around it, so what may be `nil` has a name of its own.
protocol ConsolePage: Sendable {
    var template: TemplateName { get }
    var title: String { get }
    /// Seconds after which the page is shown anew; `nil`: it stays.
    var refresh: Int? { get }
}

extension ConsolePage {
    var refresh: Int? { nil }
}

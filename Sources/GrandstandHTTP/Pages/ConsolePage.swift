internal import Grandstand

/// What one page shows. Templates read the stored properties by their names; a name that a part of the page lacks is
/// looked for around it, so what may be `nil` has a name of its own.
///
/// With scripts, the elements marked `data-live="name"` are replaced when the page is fetched again, the rest stays.
protocol ConsolePage: Sendable {
    var template: TemplateName { get }
    var title: String { get }
    /// Seconds after which the page is shown anew; `nil`: it stays.
    var refresh: Int? { get }
    /// The event whose changes have the page fetched again at once; `nil`: only time does.
    var liveEvent: EventKey? { get }
}

extension ConsolePage {
    var refresh: Int? { nil }
    var liveEvent: EventKey? { nil }
}

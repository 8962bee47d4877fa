internal import Grandstand

/// The data of one page. Templates read its stored properties by name. If a nested value has no property with the name
/// that the template uses, Mustache looks for this name in the enclosing values, so each property that may be `nil`
/// needs a unique name.
///
/// With scripts, only the elements marked `data-live="name"` are replaced when the page is fetched again.
protocol ConsolePage: Sendable {
    /// The template's file, without `.mustache`.
    var template: String { get }
    var title: String { get }
    /// Seconds after which the page reloads itself; `nil`: never.
    var refresh: Int? { get }
}

extension ConsolePage {
    var refresh: Int? { nil }
}

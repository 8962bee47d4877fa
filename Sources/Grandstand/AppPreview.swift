/// The Mustache templates that show an app's content to people, as the operator wrote them. `ContentPreview` parses
/// them.
package struct AppPreview: Sendable, Hashable {
    /// The template for one line, for example in a list.
    package var compact: String?
    /// The template for several lines; `nil`: `compact` is used.
    package var expanded: String?

    package init(compact: String? = nil, expanded: String? = nil) {
        self.compact = compact
        self.expanded = expanded
    }

    package var isEmpty: Bool { compact == nil && expanded == nil }
}

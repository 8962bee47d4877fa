package import JSON

/// The Mustache templates by which people see a content of an app's, as they were written; `ContentPreview` reads them.
package struct AppPreview: Sendable, Hashable {
    /// Of a line: as on a lock screen, at a glance.
    package var compact: String?
    /// Of some lines; `nil`: the compact one does.
    package var expanded: String?

    package init(compact: String? = nil, expanded: String? = nil) {
        self.compact = compact
        self.expanded = expanded
    }

    package var isEmpty: Bool { compact == nil && expanded == nil }
}

extension AppPreview: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        if let compact { object.member("compact", compact) }
        if let expanded { object.member("expanded", expanded) }
    }
}

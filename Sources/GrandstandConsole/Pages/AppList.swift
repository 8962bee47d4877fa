internal import APNsWire
internal import Grandstand

/// The apps there are.
struct AppList: ConsolePage {
    var template: TemplateName { .apps }
    let title = "Apps"
    let rows: [AppRow]
    let pager: Pager
    /// For who may register one.
    let form: AppForm?

    init(_ rows: [AppRow], nextCursor: String?, _ visit: Visit) {
        self.rows = rows
        pager = Pager(visit, nextCursor: nextCursor)
        form = visit.key.holds(.admin) ? AppForm(nil) : nil
    }
}

/// One line of the list.
struct AppRow: Sendable {
    let bundleID: String
    let href: String
    let name: String
    let limit: String
    /// `development ok, production missing`
    let keyFiles: String
    let keyFilesAreFine: Bool

    init(_ app: App, keyFiles states: [APNsEnvironment: KeyFileState]) {
        bundleID = app.bundleID.rawValue
        href = ConsolePath.app(app.bundleID)
        name = app.name
        limit = Wording.number(app.channelLimit)
        keyFiles = APNsEnvironment.allCases.map { "\($0.rawValue) \((states[$0] ?? .missing).rawValue)" }
            .joined(separator: ", ")
        keyFilesAreFine = APNsEnvironment.allCases.allSatisfy { states[$0] == .ok }
    }
}

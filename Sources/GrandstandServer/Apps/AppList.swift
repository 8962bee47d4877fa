internal import APNsWire
internal import Grandstand

struct AppList: ConsolePage {
    /// An app, and the state of the key file that signs for it in each environment.
    typealias Record = (app: App, keyFiles: [APNsEnvironment: KeyFileState])

    var template: TemplateName { .apps }
    let title = "Apps"
    let apps: Table
    let pager: Pager
    /// `nil`: the key may not register apps.
    let form: AppForm?

    init(_ records: [Record], nextCursor: String?, _ visit: Visit) {
        apps = Table(
            "Apps, and whether the key files that sign for them can be used", nothing: "There is no app yet.", records,
            [
                Column("Bundle ID") { [.link($0.app.bundleID.rawValue, ConsolePath.app($0.app.bundleID))] },
                Column("Name") { [.quoted($0.app.name)] }, .number("Limit of channels") { $0.app.channelLimit },
                Column("Key files") {
                    $0.app.deletingSince == nil ? Self.keyFiles($0.keyFiles) : [.words("is being deleted")]
                },
            ])
        pager = Pager(visit, nextCursor: nextCursor)
        form = visit.key.holds(.admin) ? AppForm(nil) : nil
    }

    /// `development ok, production missing`
    private static func keyFiles(_ states: [APNsEnvironment: KeyFileState]) -> [Piece] {
        let words = APNsEnvironment.allCases.map { "\($0.rawValue) \((states[$0] ?? .missing).word)" }
        let areFine = APNsEnvironment.allCases.allSatisfy { states[$0] == .ok }
        return (areFine ? [] : [Piece.level("warning", "warning")]) + [.words(words.joined(separator: ", "))]
    }
}

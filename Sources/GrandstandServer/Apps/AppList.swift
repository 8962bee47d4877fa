internal import APNsWire
internal import Grandstand
internal import GrandstandContract

struct AppList: ConsolePage {
    var template: TemplateName { .apps }
    let title = "Apps"
    let apps: Table
    let pager: Pager
    /// `nil`: the key may not register apps.
    let form: AppForm?

    init(_ page: Contract.AppPage, _ visit: Visit) {
        apps = Table(
            "Apps, and whether the key files that sign for them can be used", nothing: "There is no app yet.",
            page.items,
            [
                Column("Bundle ID") { [.link($0.bundleId, ConsolePath.app($0.bundleId))] },
                Column("Name") { [.quoted($0.name)] }, .number("Limit of channels") { $0.channelLimit },
                Column("Key files") {
                    $0.deletingSince == nil ? Self.keyFiles($0) : [.words("is being deleted")]
                },
            ])
        pager = Pager(visit, nextCursor: page.nextCursor)
        form = visit.key.holds(.admin) ? AppForm(nil) : nil
    }

    /// `development ok, production missing`
    private static func keyFiles(_ app: Contract.App) -> [Piece] {
        let states = APNsEnvironment.allCases.map { ($0.rawValue, app.credentials[$0.rawValue] ?? .missing) }
        let words = states.map { "\($0.0) \($0.1)" }
        let areFine = states.allSatisfy { $0.1 == .ok }
        return (areFine ? [] : [Piece.level("warning", "warning")]) + [.words(words.joined(separator: ", "))]
    }
}

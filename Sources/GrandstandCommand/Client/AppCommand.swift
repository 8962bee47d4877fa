internal import ArgumentParser
internal import Grandstand
internal import GrandstandClient

/// `grandstand app`: the apps of a running server.
struct AppCommand: AsyncParsableCommand, Listed, Shown, Changeable, Deletable {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Apps of a running server.",
        subcommands: [
            ListCommand<Self>.self, ShowCommand<Self>.self, PutCommand<Self>.self, DeleteCommand<Self>.self,
        ])

    static let id = ArgumentHelp("The bundle ID, as registered at Apple.", valueName: "bundle-id")
    static let list = Verb<NoArguments, _>(
        "list", "Lists apps.", columns: ["bundleId", "name", "teamId", "keyId", "channelLimit", "credentials"]
    ) { _ in .listApps() }
    static let show = Verb<ID<Self>, _>("get", "Shows an app.") { .getApp($0.id) }
    static let delete = Verb<ID<Self>, _>("delete", "Removes an app that has no channels left.") { .deleteApp($0.id) }
    static let put = Change(
        configuration: .init(
            commandName: "put", abstract: "Registers an app, or changes the given members."),
        get: { .getApp($0) }, put: { .putApp($0, json: $1) },
        declared: {
            Draft(
                $0,
                without: ["bundleId", "topic", "credentials", "credentialRefusals", "quirks", "createdAt", "updatedAt"])
        })

    struct Fields: FieldOptions {
        @Option(help: "The name of the app, for people.") var name: String?
        @Option(help: "Apple's team ID.") var team: String?
        @Option(help: "The ID of the key AuthKey_<ID>.p8.") var key: String?
        @Option(help: "The most channels in each environment.") var limit: Int?
        @Option(
            help:
                "How the console shows a contentState: one line of Mustache, '{{home}} – {{away}}'; empty: no template."
        )
        var previewCompact: String?
        @Option(help: "The same with several lines; empty: no template.") var previewExpanded: String?
        @Option(
            name: .customLong("override"),
            help:
                "Another team or key in one environment, ENVIRONMENT:TEAM:KEY; an empty part means the app's own value."
        )
        var overrides: [String] = []

        private static let form = "ENVIRONMENT:TEAM:KEY"

        func validate() throws { for text in overrides { _ = try parts("--override", text, Self.form) } }

        func apply(to draft: inout Draft) throws {
            draft.set("name", name)
            draft.set("teamId", team)
            draft.set("keyId", key)
            draft.set("channelLimit", limit)
            if previewCompact != nil || previewExpanded != nil {
                var preview = draft["preview"].map { Draft($0, without: []) } ?? Draft()
                for (name, text) in [("compact", previewCompact), ("expanded", previewExpanded)] {
                    if text == "" { preview.set(name, raw: Array("null".utf8)) } else { preview.set(name, text) }
                }
                draft.set("preview", raw: preview.bytes)
            }
            var environments = draft["environments"].map { Draft($0, without: []) } ?? Draft()
            for text in overrides {
                let parts = try parts("--override", text, Self.form)
                var one = Draft()
                if !parts[1].isEmpty { one.set("teamId", parts[1]) }
                if !parts[2].isEmpty { one.set("keyId", parts[2]) }
                environments.set(parts[0], raw: one.bytes)
            }
            if !overrides.isEmpty { draft.set("environments", raw: environments.bytes) }
        }
    }
}

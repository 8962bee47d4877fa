internal import ArgumentParser
internal import Grandstand
internal import GrandstandClient

/// `grandstand app`: the apps a server knows.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Apps of a running server.",
        subcommands: [List.self, Get.self, Put.self, Quirk.self, Delete.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists apps.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            try await client.list(
                .listApps(), page, ["bundleId", "name", "teamId", "keyId", "channelLimit", "credentials"])
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows an app.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The bundle ID.") var bundleID: String

        func run() async throws { try await client.show(.getApp(bundleID)) }
    }

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Registers an app or changes it; what is not given stays as it is.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var further: FurtherFields
        @Argument(help: "The bundle ID, as registered at Apple.") var bundleID: String
        @Option(help: "What people know the app by.") var name: String?
        @Option(help: "Apple's team ID.") var team: String?
        @Option(help: "The ID of the key AuthKey_<ID>.p8.") var key: String?
        @Option(help: "Channels at most.") var limit: Int?
        @Option(
            help: "What the console shows of a contentState, a line of Mustache: '{{home}} – {{away}}'; empty: none.")
        var previewCompact: String?
        @Option(help: "The same with more room; empty: none.") var previewExpanded: String?
        @Option(
            name: .customLong("override"),
            help: "Another team or key in one environment, ENVIRONMENT:TEAM:KEY; an empty part is the app's own.")
        var overrides: [String] = []

        private static let form = "ENVIRONMENT:TEAM:KEY"
        private static let readOnly: Set = [
            "bundleId", "topic", "credentials", "credentialRefusals", "quirks", "createdAt", "updatedAt",
        ]

        func validate() throws { for text in overrides { _ = try parts("--override", text, Self.form) } }

        func run() async throws {
            let answer = try await client.change(
                .getApp(bundleID), { .putApp(bundleID, json: $0) }, without: Self.readOnly
            ) { draft in
                try further.apply(to: &draft)
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
            client.show(answer)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Removes an app that has no channels left.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The bundle ID.") var bundleID: String

        func run() async throws { try await client.send(.deleteApp(bundleID)) }
    }

    struct Quirk: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Corrects what was learned of APNs.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: AppOptions
        @Argument(
            help: "\(Grandstand.Quirk.Name.allCases.map(\.rawValue).joined(separator: ", ")).",
            completion: .list(Grandstand.Quirk.Name.allCases.map(\.rawValue))) var quirk: String
        @Argument(help: "What is so.") var value: String

        func run() async throws {
            try await client.show(.putQuirk(quirk, of: target.app, value: .init(rawValue: value)))
        }
    }
}

internal import ArgumentParser
internal import Grandstand

/// `grandstand app`: the apps a server knows.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Apps of a running server.",
        subcommands: [List.self, Get.self, Put.self, Delete.self])

    private static let columns = ["bundleId", "name", "teamId", "keyId", "channelLimit", "credentials"]

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists apps.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            client.show(try await client.call("GET", "/v1/apps", query: page.query), AppCommand.columns)
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows an app.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The bundle ID.") var bundleID: String

        func run() async throws {
            client.show(try await client.call("GET", "/v1/apps/\(encoded(bundleID))"), AppCommand.columns)
        }
    }

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Registers an app or changes it.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The bundle ID, as registered at Apple.") var bundleID: String
        @Option(help: "What people know the app by.") var name: String
        @Option(help: "Apple's team ID.") var team: String
        @Option(help: "The ID of the key AuthKey_<ID>.p8.") var key: String
        @Option(help: "Channels at most.") var limit: Int?

        func run() async throws {
            var body = JSONWriter()
            body.object { object in
                object.member("name", name)
                object.member("teamId", team)
                object.member("keyId", key)
                if let limit { object.member("channelLimit", limit) }
            }
            client.show(
                try await client.call("PUT", "/v1/apps/\(encoded(bundleID))", body: body.bytes), AppCommand.columns)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Removes an app that has no channels left.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The bundle ID.") var bundleID: String

        func run() async throws { _ = try await client.call("DELETE", "/v1/apps/\(encoded(bundleID))") }
    }
}

/// Which part of a list.
struct PageOptions: ParsableArguments {
    @Option(help: "Entries at most, 1 to 200.") var limit: Int?
    @Option(help: "Where the previous page ended.") var cursor: String?

    var query: [(name: String, value: String?)] { [("limit", limit.map(String.init)), ("cursor", cursor)] }
}

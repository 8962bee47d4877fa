internal import ArgumentParser
internal import Grandstand

/// `grandstand lookup`: what an app asks before it starts an activity.
struct LookupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "The channel of an event, as apps look it up.")

    private static let columns = ["eventKey", "channelId", "variant", "storagePolicy", "state", "startsAt", "endsAt"]

    @OptionGroup var client: ClientOptions
    @Argument(help: "The bundle ID.") var bundleID: String
    @Argument(help: "development or production.") var environment: String
    @Argument(help: "The event key.") var key: String
    @Option(help: "Which of the app's variants; without it the audience without one, else the first.")
    var variant: String?
    @Flag(help: "With the newest content.") var contentState = false

    func run() async throws {
        let query: [(name: String, value: String?)] = [
            ("variant", variant), ("include", contentState ? "contentState" : nil),
        ]
        client.show(
            try await client.call(
                "GET", "/v1/lookup/\(encoded(bundleID))/\(encoded(environment))/\(encoded(key))", query: query),
            Self.columns)
    }
}

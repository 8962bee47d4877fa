internal import ArgumentParser
internal import GrandstandClient

/// `grandstand lookup`: what an app asks before it starts an activity, and what it may offer.
struct LookupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "The channels of events, as apps look them up.",
        discussion: "With one key the channel of that event, with several those of all, without any the app's list.")

    private static let columns = ["eventKey", "channelId", "variant", "storagePolicy", "state", "startsAt", "endsAt"]

    @OptionGroup var client: ClientOptions
    @OptionGroup var page: PageOptions
    @OptionGroup var target: AppOptions
    @Argument(help: "Event keys.") var keys: [String] = []
    @Option(help: "Which of the app's variants; without it the audience without one, else the first.")
    var variant: String?
    @Flag(help: "With the newest content; of one event.") var contentState = false
    @Option(help: "Of the list: only events with this topic.") var topic: String?
    @Option(help: "Of the list: only those that are scheduled, or live.") var state: String?
    @Option(help: "Of the list: only events that start at or after this time (RFC 3339).") var from: Moment?
    @Option(help: "Of the list: only events that start before this time (RFC 3339).") var to: Moment?

    func run() async throws {
        switch keys.count {
        case 0:
            try await client.show(
                .lookupList(
                    in: target.app, topic: topic, from: from?.date, to: to?.date,
                    state: state.map { .init(rawValue: $0) }, variant: variant, limit: page.limit, cursor: page.cursor),
                Self.columns + ["name", "kind", "topics"])
        case 1:
            try await client.show(
                .lookup(keys[0], in: target.app, variant: variant, contentState: contentState), Self.columns)
        default: try await client.show(.lookupMany(keys, in: target.app, variant: variant), Self.columns)
        }
    }
}

internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

/// `grandstand broadcast`: the broadcasts that update or end the activities of an event.
struct BroadcastCommand: AsyncParsableCommand, Noun, Listed, Shown, Deletable {
    static let configuration = CommandConfiguration(
        commandName: "broadcast", abstract: "Broadcasts to events.",
        subcommands: [
            Send.self, Batch.self, ListCommand<Self>.self, ShowCommand<Self>.self, DeleteCommand<Self>.self,
        ])

    static let id: ArgumentHelp = "The broadcast's ID."
    static let list = Verb<Filter, _>(
        "list", "Lists the broadcasts of an event.", columns: ["id", "event", "state", "acceptedAt", "by", "counts"]
    ) { .listBroadcasts(of: $0.event.id, scheduled: $0.scheduled ? true : nil) }
    static let show = Verb<ID<Self>, _>("get", "Shows a broadcast and its deliveries.") { .getBroadcast($0.id) }
    static let delete = Verb<ID<Self>, _>(
        "cancel", "Withdraws a broadcast that was sent to nobody yet.", aliases: ["delete"]
    ) { .cancelBroadcast($0.id) }

    struct Filter: ParsableArguments {
        @OptionGroup var event: ID<EventCommand>
        @Flag(help: "Only broadcasts that wait for their sendAt, the next one first.") var scheduled = false
    }

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sends an update, or the end, of an event.",
            discussion: MessageOptions.discussion)
        @OptionGroup var client: ClientOptions
        @OptionGroup var message: MessageOptions
        @OptionGroup var event: ID<EventCommand>
        @Option(help: "Only for this audience, BUNDLE:ENVIRONMENT[:VARIANT]; may be repeated.") var audience: [String] =
            []
        @Option(
            help:
                "Other content or alerts for some variants, a JSON object: {\"de\": {\"contentState\": …, \"alert\": …}}."
        )
        var byVariant: String?
        @Flag(help: "Wait until every delivery has its final state, also with --send-at, and print progress.")
        var wait = false
        @Flag(help: "Send nothing: show what each audience would get, and which waiting broadcasts would be replaced.")
        var preview = false

        private static let form = "BUNDLE:ENVIRONMENT[:VARIANT]"

        func validate() throws { for text in audience { _ = try parts("--audience", text, Self.form) } }

        func run() async throws {
            var draft = try message.draft()
            draft.set(
                "audiences", ["bundleId", "environment", "variant"],
                of: try audience.map { try parts("--audience", $0, Self.form) })
            draft.set("byVariant", raw: try byVariant.map { try json("--by-variant", $0) })
            if preview { return try await client.show(.previewBroadcast(to: event.id, json: try draft.json)) }
            try await client.settle(
                try await client.answer(.broadcast(to: event.id, json: try draft.json)), if: wait)
        }
    }

    struct Batch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Sends up to 500 broadcasts in one request; each is accepted or refused by itself. Exits 1 if any was refused."
        )
        @OptionGroup var client: ClientOptions
        @Argument(
            help: "The batch as the API has it, {\"items\": [{\"eventKey\": …, \"event\": …}]}: JSON, @file, or -.")
        var items: String

        func run() async throws {
            let batch = try json("ITEMS", items)
            let answer = try await client.answer(.broadcastMany(json: try RawJSON(json: Data(batch))))
            try client.show(
                answer, ["id", "eventKey", "event", "state", "acceptedAt", "problem.title", "problem.detail"])
            let asked = try JSONValue(parsing: batch, maximumValues: .max)["items"]?.elements ?? []
            let refused = zip(asked, answer?["items"]?.elements ?? []).enumerated().compactMap { number, item in
                item.1["problem"].map { problem in
                    "\n  /items/\(number) (\(item.0["eventKey"]?.string ?? "")): "
                        + [problem["title"]?.string, problem["detail"]?.string].compactMap(\.self).joined(
                            separator: ": ")
                }
            }
            guard refused.isEmpty else {
                throw StartError("\(refused.count) of \(asked.count) were refused:" + refused.joined())
            }
        }
    }
}

/// The options of a message to any recipient.
struct MessageOptions: ParsableArguments {
    static let discussion = "Give JSON as text, as @file, or as - for standard input. It reaches the app byte for byte."

    @Option(help: "The content state, a JSON object.") var contentState: String?
    @Flag(help: "This is the last message.") var end = false
    @Option(help: "The alert, a JSON object.") var alert: String?
    @Option(help: "1, 5 or 10.") var priority: Int?
    @Option(help: "Seconds after which it is no longer worth sending.") var expiresIn: Int?
    @Option(help: "The header apns-expiration itself, in seconds since 1970; not with --expires-in.")
    var apnsExpiration: Int?
    @Option(
        help:
            "When to send it: an RFC 3339 time, or a time relative to its event's start, such as start-10m, start or start+1h. A relative time moves with the start."
    )
    var sendAt: String?
    @Option(help: "When its content is out of date, RFC 3339.") var staleDate: String?
    @Option(help: "When an ended activity is removed from lock screens, RFC 3339; with --end.") var dismissalDate:
        String?
    @Option(help: "A number: of several activities, the one with the highest number is shown first.")
    var relevanceScore: String?
    @OptionGroup var further: FurtherFields

    /// `sendAt` in the API's form. `start`, optionally with an offset in seconds, minutes, hours or days, is relative
    /// to the event's start. Any other text is a time; the server checks it.
    private static func sendTime(_ text: String) -> [UInt8] {
        var json = JSONWriter()
        if let match = text.wholeMatch(of: /start(?:([+-])([0-9]{1,8})([smhd]?))?/) {
            let unit = ["m": 60, "h": 3_600, "d": 86_400][match.3 ?? ""] ?? 1
            let seconds = (match.2.flatMap { Int($0) } ?? 0) * unit
            json.object { $0.member("afterStart", match.1 == "-" ? -seconds : seconds) }
        } else {
            json.string(text)
        }
        return json.bytes
    }

    /// The message in the API's form.
    func draft() throws -> Draft {
        var draft = Draft()
        draft.set("event", "update")
        try further.apply(to: &draft)
        if end { draft.set("event", "end") }
        draft.set("contentState", raw: try contentState.map { try json("--content-state", $0) })
        draft.set("alert", raw: try alert.map { try json("--alert", $0) })
        draft.set("priority", priority)
        draft.set("expiresIn", expiresIn)
        draft.set("apnsExpiration", apnsExpiration)
        draft.set("sendAt", raw: sendAt.map(Self.sendTime))
        draft.set("staleDate", staleDate)
        draft.set("dismissalDate", dismissalDate)
        draft.set("relevanceScore", raw: try relevanceScore.map { try json("--relevance-score", $0) })
        return draft
    }
}

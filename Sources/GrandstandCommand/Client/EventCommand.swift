internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import JSON

/// `grandstand event`: what people follow.
struct EventCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "Events of a running server.",
        subcommands: [
            List.self, Get.self, Put.self, Patch.self, Cancel.self, Reopen.self, Receipts.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists events.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions
        @Option(help: "scheduled, live, ended or cancelled.") var state: String?
        @Option(help: "Only events of this kind.") var kind: String?
        @Option(help: "Only events of this season, as `grandstand season` made them.") var season: String?
        @Option(help: "Only events of this app.") var app: String?
        @Option(help: "Only events that start at or after this time (RFC 3339).") var from: Moment?
        @Option(help: "Only events that start before this time (RFC 3339).") var to: Moment?
        @Flag(help: "Only events that hold a channel which they should not need any more.") var overdue = false

        func run() async throws {
            try await client.list(
                .listEvents(
                    state: state.map { .init(rawValue: $0) }, kind: kind, season: season, bundleId: app,
                    from: from?.date,
                    to: to?.date, overdue: overdue ? true : nil), page,
                ["key", "state", "name", "kind", "startsAt", "endsAt"])
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows an event and its channels.")
        @OptionGroup var client: ClientOptions
        @Flag(help: "Show what becomes of its broadcasts as it happens, until Ctrl-C.") var watch = false
        @Argument(help: "The event key.") var key: String

        func run() async throws {
            guard watch else { return try await client.show(.getEvent(key)) }
            try await client.watch(key)
        }
    }

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Declares an event or changes it; what is not given stays as it is. The server makes its channels so.",
            discussion: """
                An audience is BUNDLE:ENVIRONMENT:POLICY, e.g. com.example.App:production:noMessageStored, or \
                BUNDLE:ENVIRONMENT:POLICY:VARIANT, e.g. com.example.App:production:noMessageStored:de, where an app has \
                several. With tokens as its policy no channel is made, and its activities are reached by their tokens.
                """)
        @OptionGroup var client: ClientOptions
        @OptionGroup var fields: EventFields
        @Argument(help: "The event key.") var key: String

        func run() async throws {
            let changes = try fields.changes()
            let answer = try await client.change(
                .getEvent(key), { .putEvent(key, json: $0) }, without: EventDocument.readOnly
            ) { draft in
                draft.set("audiences", raw: draft["audiences"].map(Self.declared))
                draft.apply(changes)
            }
            guard fields.wait else { return client.show(answer) }
            client.show(try await client.channels(of: key))
        }

        /// The audiences as they were declared, without the channels the server made for them.
        static func declared(_ audiences: JSONValue) -> [UInt8] {
            guard let elements = audiences.elements else { return audiences.bytes }
            var list = JSONWriter()
            list.array(elements) { writer, element in writer.raw(Draft(element, without: ["channel"]).bytes) }
            return list.bytes
        }
    }

    struct Patch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Changes some of what an event declares, in one request.",
            discussion: """
                The options are those of put. They are sent as a JSON Merge Patch (RFC 7396), over the members of PATCH where \
                that is given: null takes a member away, objects are merged, lists are replaced whole.
                """)
        @OptionGroup var client: ClientOptions
        @OptionGroup var fields: EventFields
        @Argument(help: "The event key.") var key: String
        @Argument(help: "A patch: a JSON object, @file, or - for standard input.") var patch: String?

        func run() async throws {
            var draft = Draft(keepsNulls: true)
            if let patch { try draft.set("PATCH", membersOf: json("PATCH", patch)) }
            draft.apply(try fields.changes())
            guard !draft.isEmpty else { throw StartError("nothing is to be changed: give PATCH, or an option") }
            let answer = try await client.answer(.patchEvent(key, try draft.json))
            guard fields.wait else { return client.show(answer) }
            client.show(try await client.channels(of: key))
        }
    }

    struct Receipts: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows what the sampled phones showed of an event, and how soon.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The event key.") var key: String

        func run() async throws { try await client.show(.eventReceipts(key)) }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancels an event and retires its channels.", aliases: ["delete"])
        @OptionGroup var client: ClientOptions
        @Argument(help: "The event key.") var key: String
        @Flag(help: "Send a last end first, so that no activity stays on a lock screen.") var end = false

        func run() async throws { try await client.send(.cancelEvent(key, end: end ? true : nil)) }
    }

    struct Reopen: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Takes an event's end or cancellation back.",
            discussion: "It says which audiences have their channels still, and warns of what cannot be taken back.")
        @OptionGroup var client: ClientOptions
        @Argument(help: "The event key.") var key: String
        @Option(help: "Only this audience, BUNDLE:ENVIRONMENT[:VARIANT]; may be repeated. All of them without it.")
        var audience: [String] = []

        private static let form = "BUNDLE:ENVIRONMENT[:VARIANT]"

        func validate() throws { for text in audience { _ = try parts("--audience", text, Self.form) } }

        func run() async throws {
            let audiences = try audience.map { text in
                let parts = try parts("--audience", text, Self.form)
                return GrandstandClient.AudienceSelector(
                    bundleId: parts[0], environment: .init(rawValue: parts[1]),
                    variant: parts.count == 3 ? parts[2] : nil)
            }
            try await client.show(
                .reopenEvent(key, audiences: audiences.isEmpty ? nil : audiences))
        }
    }
}

/// What an event declares, as options: of those that are given.
struct EventFields: ParsableArguments {
    @OptionGroup var further: FurtherFields
    @Option(help: "What people know the event by.") var name: String?
    @Option(help: "Who follows it; may be repeated. All of them: those that are not named go.") var audience: [String] =
        []
    @Option(help: "A word for filtering, e.g. football.") var kind: String?
    @Option(help: "RFC 3339.") var startsAt: String?
    @Option(help: "RFC 3339.") var endsAt: String?
    @Option(help: "When channels are opened, RFC 3339; at once without it.") var channelsOpenAt: String?
    @Option(help: "The same in seconds before the start, which it moves with.") var channelsOpenBefore: Int?
    @Option(help: "What its messages have that say nothing themselves, a JSON object: priority, staleAfter, …")
    var defaults: String?
    @Option(help: "Yours to keep with it, a JSON object.") var metadata: String?
    @Option(help: "What people follow to get its start; may be repeated. All of them.") var topic: [String] = []
    @Option(help: "The push that starts its Live Activity, a JSON object as the API has it.") var start: String?
    @Flag(help: "Wait until its channels are there, and say how far they are.") var wait = false

    private static let form = "BUNDLE:ENVIRONMENT:POLICY[:VARIANT]"

    func validate() throws {
        _ = try audiences()
        if channelsOpenAt != nil, channelsOpenBefore != nil {
            throw ValidationError("--channels-open-at and --channels-open-before exclude each other.")
        }
    }

    /// The members of each audience, `nil` for those it has not.
    private func audiences() throws -> [[String?]] {
        try audience.map { text in
            let parts = try parts("--audience", text, Self.form)
            let variant = parts.count == 4 ? parts[3] : nil
            guard parts[2] == "tokens" else { return [parts[0], parts[1], parts[2], variant] }
            // A token's newest message is kept for it as by this policy.
            return [parts[0], parts[1], "mostRecentMessageStored", variant, "tokens"]
        }
    }

    /// The members that are given, `null` for those to be taken away.
    func changes() throws -> Draft {
        var draft = Draft(keepsNulls: true)
        try further.apply(to: &draft)
        draft.set("name", name)
        draft.set("kind", kind)
        draft.set("startsAt", startsAt)
        draft.set("endsAt", endsAt)
        // One of the two takes the other's place.
        if channelsOpenBefore != nil { draft.set("channelsOpenAt", raw: Array("null".utf8)) }
        if channelsOpenAt != nil { draft.set("channelsOpenBefore", raw: Array("null".utf8)) }
        draft.set("channelsOpenAt", channelsOpenAt)
        draft.set("channelsOpenBefore", channelsOpenBefore)
        draft.set("defaults", raw: try defaults.map { try json("--defaults", $0) })
        draft.set("metadata", raw: try metadata.map { try json("--metadata", $0) })
        draft.set("start", raw: try start.map { try json("--start", $0) })
        if !topic.isEmpty {
            var topics = JSONWriter()
            topics.array(topic) { writer, topic in writer.string(topic) }
            draft.set("topics", raw: topics.bytes)
        }
        draft.set(
            "audiences", ["bundleId", "environment", "storagePolicy", "variant", "delivery"], of: try audiences())
        return draft
    }
}

internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient
internal import GrandstandServer
internal import JSON

/// `grandstand event`: the events that people follow.
struct EventCommand: AsyncParsableCommand, Listed, Shown, Changeable, Deletable {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "Events of a running server.",
        subcommands: [
            ListCommand<Self>.self, ShowCommand<Self>.self, PutCommand<Self>.self, Patch.self, DeleteCommand<Self>.self,
            ShowCommand<Reopen>.self,
        ])

    static let id = ArgumentHelp("The event key.", valueName: "key")
    static let list = Verb<Filter, _>(
        "list", "Lists events.", columns: ["key", "state", "name", "kind", "startsAt", "endsAt"]
    ) {
        .listEvents(
            state: $0.state?.value, kind: $0.kind, season: $0.season, bundleId: $0.app, from: $0.from?.date,
            to: $0.to?.date, overdue: $0.overdue ? true : nil)
    }
    static let show = Verb<ID<Self>, _>("get", "Shows an event and its channels.") { .getEvent($0.id) }
    static let delete = Verb<Target, _>("cancel", "Cancels an event and retires its channels.", aliases: ["delete"]) {
        .cancelEvent($0.event.id, end: $0.end ? true : nil)
    }
    static let put = Change(
        configuration: .init(
            commandName: "put",
            abstract:
                "Declares an event, or changes the given members. The server then creates its channels.",
            discussion: """
                An audience is BUNDLE:ENVIRONMENT:POLICY, e.g. com.example.App:production:noMessageStored, or \
                BUNDLE:ENVIRONMENT:POLICY:VARIANT, e.g. com.example.App:production:noMessageStored:de, if the app has \
                several audiences. The policy "tokens" creates no channel; its activities are reached by push token.

                Audiences that you do not name stay. In an audience that you name, only the policy changes. To remove an \
                audience, give the full new list: --fields '{"audiences": [...]}'.
                """),
        get: { .getEvent($0) }, put: { .putEvent($0, json: $1) }, declared: declaration)

    /// The declaration of an event, without the channels that the server has created for the audiences.
    private static func declaration(_ event: JSONValue) -> Draft {
        var draft = Draft(event, without: EventDocument.readOnly)
        if let audiences = event["audiences"]?.elements {
            var list = JSONWriter()
            list.array(audiences) { writer, audience in writer.raw(Draft(audience, without: ["channel"]).bytes) }
            draft.set("audiences", raw: list.bytes)
        }
        return draft
    }

    struct Filter: ParsableArguments {
        @Option(help: "scheduled, live, ended or cancelled.") var state: Word<Contract.EventState>?
        @Option(help: "Only events of this kind.") var kind: String?
        @Option(help: "Only events of this season, as `grandstand season` declared them.") var season: String?
        @Option(help: "Only events of this app.") var app: String?
        @Option(help: "Only events that start at or after this time (RFC 3339).") var from: Moment?
        @Option(help: "Only events that start before this time (RFC 3339).") var to: Moment?
        @Flag(help: "Only events that still have a channel although they should be over.") var overdue = false
    }

    struct Target: ParsableArguments {
        @OptionGroup var event: ID<EventCommand>
        @Flag(help: "First send an end, so that no activity stays on a lock screen.") var end = false
    }

    struct Patch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Changes some members of an event, in one request.",
            discussion: """
                The options are those of put. They are sent as a JSON Merge Patch (RFC 7396). Options override members of \
                PATCH. null removes a member, objects are merged, lists are replaced whole.
                """)
        @OptionGroup var client: ClientOptions
        @OptionGroup var further: FurtherFields
        @OptionGroup var fields: Fields
        @OptionGroup var event: ID<EventCommand>
        @Argument(help: "A patch: a JSON object, @file, or - for standard input.") var patch: String?

        func run() async throws {
            var draft = Draft(keepsNulls: true)
            if let patch { try draft.set("PATCH", membersOf: json("PATCH", patch)) }
            try further.apply(to: &draft)
            try fields.apply(to: &draft)
            guard !draft.isEmpty else { throw StartError("nothing to change: give PATCH or an option") }
            let answer = try await client.answer(.patchEvent(event.id, try draft.json))
            try client.show(try await fields.result(answer, of: event.id, client))
        }
    }

    struct Reopen: ParsableArguments, Shown {
        @OptionGroup var event: ID<EventCommand>
        @Option(help: "Only this audience, BUNDLE:ENVIRONMENT[:VARIANT]; may be repeated. Without it: all.")
        var audience: [String] = []

        func validate() throws {
            for text in audience { _ = try parts("--audience", text, "BUNDLE:ENVIRONMENT[:VARIANT]") }
        }

        static let show = Verb<Self, _>(
            "reopen", "Reopens an ended or cancelled event.",
            discussion: "Prints which audiences still have their channels, and warns of what cannot be undone."
        ) { reopen in
            let audiences = try reopen.audience.map { text in
                let parts = try parts("--audience", text, "BUNDLE:ENVIRONMENT[:VARIANT]")
                return Contract.AudienceSelector(
                    bundleId: parts[0], environment: .init(rawValue: parts[1]),
                    variant: parts.count == 3 ? parts[2] : nil)
            }
            return .reopenEvent(reopen.event.id, audiences: audiences.isEmpty ? nil : audiences)
        }
    }

    /// The options for an event's declaration.
    struct Fields: FieldOptions {
        @Option(help: "The name of the event, for people.") var name: String?
        @Option(help: "An audience; may be repeated. put keeps audiences that are not named, patch replaces all.")
        var audience: [String] = []
        @Option(help: "A word for filtering, e.g. football.") var kind: String?
        @Option(help: "RFC 3339.") var startsAt: String?
        @Option(help: "RFC 3339.") var endsAt: String?
        @Option(help: "When channels are opened, RFC 3339. Without it: at once.") var channelsOpenAt: String?
        @Option(help: "Seconds before the start at which channels are opened. The time moves with the start.")
        var channelsOpenBefore: Int?
        @Option(help: "Default values for its messages, a JSON object: priority, staleAfter, …")
        var defaults: String?
        @Option(help: "Your own data, stored with the event: a JSON object.") var metadata: String?
        @Option(
            help:
                "A topic whose followers get the push that starts the activity; may be repeated. The list replaces the old one."
        )
        var topic: [String] = []
        @Option(help: "The push that starts its Live Activity, a JSON object as the API has it.") var start: String?
        @Flag(help: "Wait until its channels exist, and print progress.") var wait = false

        private static let form = "BUNDLE:ENVIRONMENT:POLICY[:VARIANT]"

        func validate() throws {
            _ = try audiences()
            if channelsOpenAt != nil, channelsOpenBefore != nil {
                throw ValidationError("--channels-open-at and --channels-open-before exclude each other.")
            }
        }

        private func audiences() throws -> [NamedAudience] {
            try audience.map { text in
                let parts = try parts("--audience", text, Self.form)
                return NamedAudience(
                    bundleID: parts[0], environment: parts[1], policy: parts[2],
                    variant: parts.count == 4 ? parts[3] : nil)
            }
        }

        /// Sets the members whose options are given. Setting one of channelsOpenAt and channelsOpenBefore clears the
        /// other.
        func apply(to draft: inout Draft) throws {
            draft.set("name", name)
            draft.set("kind", kind)
            draft.set("startsAt", startsAt)
            draft.set("endsAt", endsAt)
            if channelsOpenBefore != nil { draft.set("channelsOpenAt", raw: Array("null".utf8)) }
            if channelsOpenAt != nil { draft.set("channelsOpenBefore", raw: Array("null".utf8)) }
            draft.set("channelsOpenAt", channelsOpenAt)
            draft.set("channelsOpenBefore", channelsOpenBefore)
            draft.set("defaults", raw: try defaults.map { try json("--defaults", $0) })
            draft.set("metadata", raw: try metadata.map { try json("--metadata", $0) })
            draft.set("start", raw: try start.map { try json("--start", $0) })
            draft.set("topics", texts: topic)
            draft.set("audiences", raw: NamedAudience.list(try audiences(), over: draft["audiences"]?.elements ?? []))
        }

        func result(_ answer: JSONValue?, of key: String, _ client: ClientOptions) async throws -> JSONValue? {
            wait ? try await client.channels(of: key) : answer
        }
    }
}

/// An audience in an option.
struct NamedAudience {
    let bundleID: String
    let environment: String
    /// A storage policy, or `tokens`.
    let policy: String
    let variant: String?

    /// The event's audiences. A named audience that exists is changed in place; others are added at the end.
    ///
    /// - Returns: `nil` if no audience is named.
    static func list(_ named: [NamedAudience], over present: [JSONValue]) -> [UInt8]? {
        guard !named.isEmpty else { return nil }
        var all = present.map { Draft($0, without: []) }
        for audience in named {
            if let place = all.firstIndex(where: audience.names) {
                audience.apply(to: &all[place])
            } else {
                var new = Draft()
                audience.apply(to: &new)
                all.append(new)
            }
        }
        var list = JSONWriter()
        list.array(all) { writer, audience in writer.raw(audience.bytes) }
        return list.bytes
    }

    private func names(_ audience: Draft) -> Bool {
        audience["bundleId"]?.string?.lowercased() == bundleID.lowercased()
            && audience["environment"]?.string == environment && audience["variant"]?.string == variant
    }

    private func apply(to audience: inout Draft) {
        audience.set("bundleId", bundleID)
        audience.set("environment", environment)
        audience.set("variant", variant)
        // For token audiences the server stores the newest message, which corresponds to this policy.
        audience.set("storagePolicy", policy == "tokens" ? "mostRecentMessageStored" : policy)
        audience.set("delivery", raw: Array((policy == "tokens" ? #""tokens""# : "null").utf8))
    }
}

/// `grandstand start`: the push that starts an event's activity for all followers.
struct StartCommand: AsyncParsableCommand, Shown, Deletable {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Starts an event's Live Activity for all followers of its topics.",
        subcommands: [
            ShowCommand<Preview>.self, ShowCommand<Now>.self, ShowCommand<Self>.self, DeleteCommand<Self>.self,
        ])

    static let show = Verb<ID<EventCommand>, _>("show", "Shows the state of the start.") { .getStart($0.id) }
    static let delete = Verb<ID<EventCommand>, _>("stop", "Stops the pushes that were not sent yet.") {
        .stopStart($0.id)
    }

    enum Preview: Shown {
        static let show = Verb<ID<EventCommand>, _>("preview", "Counts who would get it; sends nothing.") {
            .startEvent($0.id, dryRun: true)
        }
    }

    enum Now: Shown {
        static let show = Verb<ID<EventCommand>, _>(
            "now", "Sends the start now, or resumes a stopped one."
        ) { .startEvent($0.id) }
    }
}

/// `grandstand topic`: the topics that people follow.
struct TopicCommand: AsyncParsableCommand, Listed {
    static let configuration = CommandConfiguration(
        commandName: "topic", abstract: "Topics that installations follow.", subcommands: [ListCommand<Self>.self])

    static let list = Verb<AppOptions, _>(
        "list", "Lists topics, the most followed first.", columns: ["topic", "followers"]
    ) { .listTopics(in: $0.app) }
}

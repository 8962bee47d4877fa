internal import ArgumentParser
internal import GrandstandClient

/// `grandstand content`: the content types that an app can decode, and which changes of a state send an alert.
struct ContentCommand: AsyncParsableCommand, Listed, Shown, Deletable {
    static let configuration = CommandConfiguration(
        commandName: "content",
        abstract: "Content types: what an app can decode, and which changes of a state send an alert.",
        subcommands: [
            ListCommand<Self>.self, ShowCommand<Self>.self, ShowCommand<Put>.self, DeleteCommand<Self>.self,
        ])

    static let list = Verb<Filter, _>(
        "list", "Lists the content types of an app.", columns: ["attributesType", "check", "updatedAt"]
    ) { .listContents($0.bundleID) }
    static let show = Verb<Name, _>("get", "Shows a content type.") { .getContent($0.type, of: $0.bundleID) }
    static let delete = Verb<Name, _>("delete", "Removes a content type.") { .deleteContent($0.type, of: $0.bundleID) }

    struct Filter: ParsableArguments {
        @Argument(help: "The bundle ID.") var bundleID: String
    }

    /// Identifies a content type.
    struct Name: ParsableArguments {
        @Argument(help: "The bundle ID.") var bundleID: String
        @Argument(help: "The name of the app's Swift type of ActivityAttributes.") var type: String
    }

    struct Put: ParsableArguments, Shown {
        @OptionGroup var name: Name
        @Argument(
            help:
                "The declaration as the API has it, {\"check\": …, \"versions\": […], \"rules\": …}: JSON, @file, or -."
        )
        var declaration: String

        static let show = Verb<Self, _>(
            "put", "Declares or changes a content type; prints which live events it would refuse."
        ) { .putContent($0.name.type, of: $0.name.bundleID, json: try body("DECLARATION", $0.declaration)) }
    }
}

/// `grandstand state`: the states of events, as a data feed sends them.
struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "The states of events: Grandstand sends a message if something is new.",
        subcommands: [ShowCommand<Put>.self, ShowCommand<Preview>.self])

    /// A state of an event.
    struct Report: ParsableArguments {
        @OptionGroup var event: ID<EventCommand>
        @Argument(
            help: "The state as the API has it, {\"contentState\": …, \"sequence\": …}: JSON, @file, or -.") var state:
            String
    }

    struct Put: ParsableArguments, Shown {
        @OptionGroup var report: Report

        static let show = Verb<Self, _>(
            "put", "Reports the state of an event; a message is sent only if something is new."
        ) {
            .putState($0.report.event.id, json: try body("STATE", $0.report.state))
        }
    }

    struct Preview: ParsableArguments, Shown {
        @OptionGroup var report: Report

        static let show = Verb<Self, _>("preview", "Shows what a state would send, and sends nothing.") {
            .previewState($0.report.event.id, json: try body("STATE", $0.report.state))
        }
    }
}

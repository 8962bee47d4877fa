internal import ArgumentParser
internal import Grandstand
internal import GrandstandApp

/// `grandstand calendar`: files of fixtures, and the events they are.
struct CalendarCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calendar", abstract: "Events out of iCalendar and CSV files.",
        subcommands: [Put.self, Preview.self, Sync.self, List.self, Get.self, Delete.self])

    private static let columns = [
        "calendar", "format", "url", "lastSync.at", "lastSync.problems", "nextRefreshAt", "alarm",
    ]

    /// Which calendar.
    struct Target: ParsableArguments {
        @Argument(help: "The calendar's name.") var name: String

        var path: String { "/v1/calendars/\(encoded(name))" }
    }

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Declares a calendar or changes it; what is not given stays as it is.",
            discussion: "docs/calendars.md has the fields. Its events stay as they are until it is synced.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var further: FurtherFields
        @OptionGroup var target: Target
        @Argument(help: "A file with the calendar's fields as the API has them, a JSON object; - is standard input.")
        var file: String?
        @Option(help: "ics or csv.") var format: String?
        @Option(help: "Where its file is fetched.") var url: String?
        @Option(help: "Seconds between two times that the server fetches it by itself.") var refreshEvery: Int?

        private static let readOnly: Set = [
            "calendar", "lastSync", "nextRefreshAt", "failure", "alarm", "createdAt", "updatedAt",
        ]

        func run() async throws {
            let declared = try file.map { try json("FILE", $0 == "-" ? $0 : "@" + $0) }
            let answer = try await client.change(target.path, without: Self.readOnly) { draft in
                if let declared {
                    guard case .object(let members) = try JSONValue(parsing: declared).kind else {
                        throw StartError("FILE: a JSON object was expected")
                    }
                    for member in members { draft.set(member.name, raw: member.value.bytes) }
                }
                try further.apply(to: &draft)
                draft.set("format", format)
                draft.set("url", url)
                draft.set("refreshEvery", refreshEvery)
            }
            client.show(answer, CalendarCommand.columns)
        }
    }

    /// What a preview and a sync are made of.
    struct Source: ParsableArguments {
        @Argument(
            help: "The calendar's file, .ics or .csv; - is standard input. Without one the server fetches its url.")
        var file: String?
        @Flag(help: "Cancel what vanished from the calendar, however much that is.") var cancelAll = false

        func post(_ verb: String, _ target: Target, _ client: ClientOptions) async throws -> JSONValue? {
            guard let file else {
                var body = JSONWriter()
                body.object { $0.member("cancelAll", cancelAll) }
                return try await client.call("POST", "\(target.path)/\(verb)", body: body.bytes)
            }
            let bytes = try content(of: file == "-" ? file : "@" + file)
            return try await client.call(
                "POST", "\(target.path)/\(verb)", query: [("cancelAll", cancelAll ? "true" : nil)], body: bytes,
                mediaType: Self.isCalendar(file, bytes) ? "text/calendar" : "text/csv")
        }

        /// By the file's name, or else by how it begins.
        private static func isCalendar(_ name: String, _ bytes: [UInt8]) -> Bool {
            let name = name.lowercased()
            if name.hasSuffix(".ics") || name.hasSuffix(".csv") { return name.hasSuffix(".ics") }
            let begin = bytes.drop { $0 >= 0x80 || $0 <= 0x20 }.prefix(15)
            return String(decoding: begin, as: UTF8.self).uppercased() == "BEGIN:VCALENDAR"
        }
    }

    struct Preview: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows what a sync would do, and the apps' places before and after.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @OptionGroup var source: Source

        func run() async throws { client.show(try await source.post("preview", target, client), []) }
    }

    struct Sync: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes the events what the calendar says, in one commit.",
            discussion: "What somebody changed of an event by hand stays, unless the calendar changes the same.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @OptionGroup var source: Source

        func run() async throws { client.show(try await source.post("sync", target, client), []) }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists calendars.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            client.show(try await client.call("GET", "/v1/calendars", query: page.query), CalendarCommand.columns)
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a calendar.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { client.show(try await client.call("GET", target.path), CalendarCommand.columns) }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Forgets a calendar; its events stay.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { _ = try await client.call("DELETE", target.path) }
    }
}

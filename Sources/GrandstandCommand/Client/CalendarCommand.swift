internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient

/// `grandstand calendar`: files of fixtures, and the events they are.
struct CalendarCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calendar", abstract: "Events out of iCalendar and CSV files.",
        subcommands: [Put.self, Preview.self, Sync.self, List.self, Get.self, Delete.self])

    /// Which calendar.
    struct Target: ParsableArguments {
        @Argument(help: "The calendar's name.") var name: String
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
            let answer = try await client.change(
                .getCalendar(target.name), { .putCalendar(target.name, json: $0) }, without: Self.readOnly
            ) { draft in
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
            client.show(answer)
        }
    }

    /// What a preview and a sync are made of.
    struct Source: ParsableArguments {
        @Argument(
            help: "The calendar's file, .ics or .csv; - is standard input. Without one the server fetches its url.")
        var file: String?
        @Flag(help: "Cancel what vanished from the calendar, however much that is.") var cancelAll = false

        func read() throws -> GrandstandClient.CalendarFile {
            guard let file else { return .fetched }
            let bytes = try content(of: file == "-" ? file : "@" + file)
            return Self.isCalendar(file, bytes) ? .ics(Data(bytes)) : .csv(Data(bytes))
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

        func run() async throws {
            try await client.show(.previewCalendar(target.name, try source.read(), cancelAll: source.cancelAll))
        }
    }

    struct Sync: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes the events what the calendar says, in one commit.",
            discussion: "What somebody changed of an event by hand stays, unless the calendar changes the same.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @OptionGroup var source: Source

        func run() async throws {
            try await client.show(.syncCalendar(target.name, try source.read(), cancelAll: source.cancelAll))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists calendars.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var page: PageOptions

        func run() async throws {
            try await client.list(
                .listCalendars(), page,
                [
                    "calendar", "format", "url", "lastSync.at", "lastSync.problems", "nextRefreshAt", "alarm",
                ])
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows a calendar.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { try await client.show(.getCalendar(target.name)) }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Forgets a calendar; its events stay.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { try await client.send(.deleteCalendar(target.name)) }
    }
}

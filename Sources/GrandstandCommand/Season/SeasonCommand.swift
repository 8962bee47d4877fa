internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandServer
internal import JSON

/// `grandstand season`: changes a season's events to match a calendar.
struct SeasonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "season", abstract: "Events from an iCalendar or CSV file.",
        discussion: """
            docs/organising.md describes the members of PLAN. Exits 0 on success, also if nothing changed. Exits 3 if \
            more than a third of the future events would be cancelled: then none is cancelled, unless \
            --accept-removals is given. Exits 4 if some entries were left out; standard error names them. Exits 1 on \
            failure. The next run finishes an interrupted one. Changes that somebody made by hand stay, unless the \
            calendar changes the same member.
            """)

    /// The exit code if removals were not made because `--accept-removals` is missing.
    private static let removalsHeldBack = ExitCode(3)
    /// The exit code if some entries have problems, and the others were processed.
    private static let hasProblems = ExitCode(4)

    enum Verb: String, ExpressibleByArgument, CaseIterable {
        case preview
        case apply
    }

    @OptionGroup var client: ClientOptions
    @Argument(help: "preview shows what apply would do, and changes nothing.") var verb: Verb
    @Argument(help: "A JSON file: how the calendar is read, and which events its entries become.") var plan: String
    @Argument(help: "The calendar: a file, an https URL, or - for standard input. Without it: the source in the plan.")
    var source: String?
    @Flag(help: "Cancel the events of all entries that the calendar cancels or no longer has, however many there are.")
    var acceptRemovals = false
    @Option(help: "The time zone of times whose zone is missing or unknown on this machine.")
    var timeZone: String?

    func validate() throws {
        if let timeZone, TimeZone.named(timeZone) == nil {
            throw ValidationError("--time-zone \(timeZone): there is no such time zone; Europe/Vienna is one.")
        }
    }

    /// Prints the report, and each problem on standard error.
    ///
    /// - Throws: an `ExitCode`, unless everything was done.
    func run() async throws {
        let run = SeasonRun(server: try ServerAccess(), request: try await request())
        let (report, failed) = try await verb == .apply ? run.apply() : (run.preview(), 0)
        for problem in report.problems { Terminal.say("\(problem)") }
        try client.show(try JSONValue(parsing: report.report, maximumValues: .max))
        if report.holdsBack { throw Self.removalsHeldBack }
        if failed > 0 { throw ExitCode.failure }
        if !report.problems.isEmpty { throw Self.hasProblems }
    }

    /// Reads the plan and the calendar.
    private func request() async throws -> CalendarPlan.Request {
        let text = try json(plan, "@" + plan)
        let declaration: CalendarDeclaration
        do throws(Problem) {
            declaration = try CalendarDeclaration(try JSONValue(parsing: text))
        } catch {
            let faults = error.errors.map { "\n  \($0.pointer): \($0.detail)" }.joined()
            throw StartError("\(plan): \(error.detail)\(faults)")
        }
        guard let source = source ?? declaration.source else {
            throw StartError("Name the calendar's file or URL, or write it into \(plan) as source.")
        }
        let file = try await calendar(from: source)
        do throws(CalendarFault) {
            return try CalendarPlan.Request(
                file, declaration, in: timeZone.flatMap(TimeZone.named), acceptsRemovals: acceptRemovals)
        } catch {
            throw StartError("\(source): line \(error.line ?? 1): \(error.detail)")
        }
    }
}

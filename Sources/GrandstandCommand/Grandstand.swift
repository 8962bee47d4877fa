internal import ArgumentParser

/// The main command of the program.
@main
struct GrandstandTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grandstand",
        abstract: "APNs broadcast channels for Live Activities: events, channels, and updates that arrive.",
        discussion: """
            Settings of the server come from environment variables; docs/settings.md lists them. Commands for a running \
            server use GRANDSTAND_URL and GRANDSTAND_API_KEY, and print the API's JSON with --json. `call` calls every \
            operation, also those without a command of their own. \
            --generate-completion-script bash (or zsh, fish) prints a completion script for that shell.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Server",
                subcommands: [ServeCommand.self, MigrateCommand.self] + Noun.commands("keys") + [DoctorCommand.self]),
            CommandGroup(name: "Trial", subcommands: [DemoCommand.self, SimulatorCommand.self]),
            CommandGroup(
                name: "Organising",
                subcommands: Noun.commands("event", "state", "broadcast", "start", "content") + [SeasonCommand.self]),
            CommandGroup(
                name: "Operating",
                subcommands: Noun.commands("app", "channel", "quota", "reconcile", "webhook", "audit", "key", "server")),
            CommandGroup(name: "App", subcommands: Noun.commands("lookup")),
            CommandGroup(name: "API", subcommands: [CallCommand.self]),
        ])
}

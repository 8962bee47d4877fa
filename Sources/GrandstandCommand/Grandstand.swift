internal import ArgumentParser

/// The main command of the program.
@main
struct GrandstandTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grandstand",
        abstract: "APNs broadcast channels for Live Activities: events, channels, and updates that arrive.",
        discussion: """
            Settings of the server come from environment variables; docs/settings.md lists them. Commands for a running \
            server use GRANDSTAND_URL and GRANDSTAND_API_KEY, and print the API's JSON with --json. \
            --generate-completion-script bash (or zsh, fish) prints a completion script for that shell.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Server",
                subcommands: [ServeCommand.self, MigrateCommand.self, KeysCommand.self, DoctorCommand.self]),
            CommandGroup(name: "Trial", subcommands: [DemoCommand.self, SimulatorCommand.self]),
            CommandGroup(
                name: "Organising",
                subcommands: [
                    EventCommand.self, StateCommand.self, BroadcastCommand.self, StartCommand.self, TopicCommand.self,
                    ContentCommand.self, SeasonCommand.self,
                ]),
            CommandGroup(
                name: "Operating",
                subcommands: [
                    AppCommand.self, ChannelCommand.self, QuotaCommand.self, ShowCommand<Reconcile>.self,
                    ReconciliationCommand.self, WebhookCommand.self, ListCommand<AuditLog>.self, KeyCommand.self,
                    ServerCommand.self,
                ]),
            CommandGroup(
                name: "App", subcommands: [LookupCommand.self, InstallationCommand.self]),
        ])
}

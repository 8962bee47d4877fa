internal import ArgumentParser

/// The one binary.
@main
struct GrandstandTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grandstand",
        abstract: "APNs broadcast channels for Live Activities: events, channels, and updates that arrive.",
        discussion: "Settings come from environment variables; docs/settings.md lists them.",
        subcommands: [
            ServeCommand.self, MigrateCommand.self, DemoCommand.self, SimulatorCommand.self, KeysCommand.self,
            DoctorCommand.self, AppCommand.self, ChannelCommand.self, EventCommand.self, CalendarCommand.self,
            BroadcastCommand.self, PushCommand.self, LookupCommand.self, StartCommand.self, TopicCommand.self,
            QuotaCommand.self, ReconcileCommand.self, WebhookCommand.self, RehearseCommand.self,
        ])
}

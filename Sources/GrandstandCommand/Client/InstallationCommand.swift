internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient

/// `grandstand installation`: the calls that apps make, for tests, and the number of installations.
struct InstallationCommand: AsyncParsableCommand, Shown, Deletable {
    static let configuration = CommandConfiguration(
        commandName: "installation", abstract: "Installations of an app, as the app registers them, and their counts.",
        subcommands: [
            ShowCommand<Statistics>.self, ShowCommand<Put>.self, ShowCommand<Self>.self, DeleteCommand<Self>.self,
            ShowCommand<PutActivity>.self, DeleteCommand<Activity>.self,
        ])

    static let show = Verb<Target, _>("get", "Shows an installation.") { .getInstallation($0.identity) }
    static let delete = Verb<Target, _>("forget", "Deletes everything about an installation.", aliases: ["delete"]) {
        .forgetInstallation($0.identity)
    }

    enum Statistics: Shown {
        static let show = Verb<AppOptions, _>("statistics", "Shows counts; never lists people.") {
            .installationStatistics(of: $0.app)
        }
    }

    /// Identifies an installation.
    struct Target: ParsableArguments {
        @OptionGroup var target: AppOptions
        @Argument(help: "The UUID that the app generated.") var id: String
        @Option(help: "The secret that the app generated, 43 or more characters of base64url.") var secret: String

        var identity: GrandstandClient.InstallationIdentity {
            .init(app: target.app, installationId: id, secret: secret)
        }
    }

    /// Identifies a Live Activity of an installation.
    struct Activity: ParsableArguments, Deletable {
        @OptionGroup var target: InstallationCommand.Target
        @Argument(help: "ActivityKit's ID of the activity.") var activity: String

        static let delete = Verb<Self, _>("forget-activity", "Deletes a Live Activity.") {
            .forgetActivity($0.activity, of: $0.target.identity)
        }
    }

    struct Put: ParsableArguments, Shown {
        @OptionGroup var target: Target
        @Argument(help: "The state of the installation in the form of the API: JSON, @file, or - for standard input.")
        var fields: String

        static let show = Verb<Self, _>(
            "put", "Registers an installation, or replaces its state.",
            discussion: "Give the whole state: members that are left out are removed."
        ) { .putInstallation($0.target.identity, json: try body("FIELDS", $0.fields)) }
    }

    struct PutActivity: ParsableArguments, Shown {
        @OptionGroup var its: Activity
        @Argument(help: "The activity in the form of the API: JSON, @file, or - for standard input.") var fields: String

        static let show = Verb<Self, _>("put-activity", "Reports a Live Activity.") {
            .putActivity($0.its.activity, of: $0.its.target.identity, json: try body("FIELDS", $0.fields))
        }
    }
}

internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandClient

/// `grandstand installation`: what apps tell of themselves, for trying it out, and its numbers.
struct InstallationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "installation", abstract: "Installations of an app, as the app registers them; their numbers.",
        subcommands: [
            Statistics.self, Put.self, Get.self, Forget.self, PutActivity.self, ForgetActivity.self, Receipts.self,
        ])

    struct Statistics: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows numbers; lists nobody.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: AppOptions

        func run() async throws { try await client.show(.installationStatistics(of: target.app)) }
    }

    /// Which installation.
    struct Target: ParsableArguments {
        @OptionGroup var target: AppOptions
        @Argument(help: "The UUID that the app made.") var id: String
        @Option(help: "The secret that the app drew, 43 characters or more of base64url.") var secret: String

        var identity: GrandstandClient.InstallationIdentity {
            .init(app: target.app, installationId: id, secret: secret)
        }
    }

    struct Put: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Registers an installation, or says what it is now.",
            discussion: "The whole of it: what is left out is not so any more.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @Argument(help: "What it is, as the API has it: JSON, @file, or - for standard input.") var fields: String

        func run() async throws {
            try await client.show(.putInstallation(target.identity, json: try body("FIELDS", fields)))
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows an installation.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { try await client.show(.getInstallation(target.identity)) }
    }

    struct Forget: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forgets everything of an installation.", aliases: ["delete"])
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target

        func run() async throws { try await client.send(.forgetInstallation(target.identity)) }
    }

    struct PutActivity: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Reports a Live Activity.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @Argument(help: "ActivityKit's ID of it.") var activity: String
        @Argument(help: "What it is, as the API has it: JSON, @file, or - for standard input.") var fields: String

        func run() async throws {
            try await client.show(.putActivity(activity, of: target.identity, json: try body("FIELDS", fields)))
        }
    }

    struct ForgetActivity: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Forgets a Live Activity.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @Argument(help: "ActivityKit's ID of it.") var activity: String

        func run() async throws { try await client.send(.forgetActivity(activity, of: target.identity)) }
    }

    struct Receipts: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Says what it showed, and when.")
        @OptionGroup var client: ClientOptions
        @OptionGroup var target: Target
        @Argument(help: "The receipts, as the API has them: JSON, @file, or - for standard input.") var fields: String

        func run() async throws {
            try await client.show(.recordReceipts(of: target.identity, json: try body("FIELDS", fields)))
        }
    }
}

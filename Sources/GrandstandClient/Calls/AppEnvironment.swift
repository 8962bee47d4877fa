internal import Foundation
internal import GrandstandContract

extension GrandstandClient {
    /// An app in one of APNs' environments.
    public struct AppEnvironment: Sendable, Hashable, Codable {
        /// The bundle ID as registered at Apple.
        public var bundleId: String
        /// Which of APNs' environments.
        public var environment: Environment

        /// The app in this environment.
        public init(_ bundleId: String, _ environment: Environment) {
            self.bundleId = bundleId
            self.environment = environment
        }
    }

    /// Who an installation is: its app, the UUID the app made for it, and the secret the app drew. Keep it in the keychain;
    /// whoever lost it registers anew.
    public struct InstallationIdentity: Sendable, Hashable, Codable {
        /// The app that is installed.
        public var app: AppEnvironment
        /// A UUID in lower case.
        public let installationId: String
        private let drawn: Secret

        /// 32 random bytes in base64url.
        public var secret: String { drawn.rawValue }

        private enum CodingKeys: String, CodingKey {
            case app, installationId
            case drawn = "secret"
        }

        /// An installation that is known.
        public init(app: AppEnvironment, installationId: String, secret: String) {
            self.app = app
            self.installationId = installationId
            drawn = Secret(secret)
        }

        /// A new installation, with a secret out of the system's random numbers.
        public init(new app: AppEnvironment) {
            self.app = app
            installationId = UUID().uuidString.lowercased()
            drawn = .draw()
        }
    }
}

internal import Foundation
internal import GrandstandContract

extension GrandstandClient {
    /// An app in one APNs environment.
    public struct AppEnvironment: Sendable, Hashable, Codable {
        /// The bundle ID as registered at Apple.
        public var bundleId: String
        /// The APNs environment.
        public var environment: Environment

        /// Combines an app and an environment.
        public init(_ bundleId: String, _ environment: Environment) {
            self.bundleId = bundleId
            self.environment = environment
        }
    }

    /// The identity of an installation: its app, a UUID and a secret. The app creates the UUID and the secret at
    /// random. Keep the identity in the keychain. Without the identity, the app has to register as a new installation.
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

        /// An installation that is already registered.
        public init(app: AppEnvironment, installationId: String, secret: String) {
            self.app = app
            self.installationId = installationId
            drawn = Secret(secret)
        }

        /// A new installation, with a random UUID and secret.
        public init(new app: AppEnvironment) {
            self.app = app
            installationId = UUID().uuidString.lowercased()
            drawn = .draw()
        }
    }
}

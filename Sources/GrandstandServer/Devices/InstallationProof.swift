internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird

/// The installation that a request acts for, and the secret that proves the installation's identity.
struct InstallationProof: Sendable {
    let id: InstallationID
    let secret: String
    private let address: String

    /// - Throws: `invalid-request` for an invalid ID in the path, and for a missing or invalid header; `app-not-found`,
    ///   `not-found`, `forbidden` for the path.
    init(_ request: Request, _ context: APIContext) throws(Problem) {
        let app = try context.app()
        guard let uuid = UUID(uuidString: context.text("installationId")) else {
            throw Problem.invalid(
                "The installation ID in the path is not a UUID.", at: "installationId",
                "A UUID that the app made was expected.")
        }
        guard let secret = request.headers[.installationSecret], Self.secretRule.accepts(secret) else {
            throw Problem(
                .invalidRequest,
                "Send the installation's secret in the header Grandstand-Installation-Secret: the app generates it "
                    + "once, and keeps it in the keychain.",
                errors: [
                    FieldError(pointer: "Grandstand-Installation-Secret", detail: Self.secretRule.sentence)
                ])
        }
        id = InstallationID(bundleID: app.bundleID, environment: app.environment, id: uuid)
        self.secret = secret
        address = context.address
    }

    /// Performs what the installation asks for, and counts wrong secrets. After too many wrong secrets, another wrong
    /// secret is `rate-limited`. The right secret is still accepted, because the wrong ones may come from a stranger
    /// with the same address.
    ///
    /// - Throws: `rate-limited`; the errors of `body`.
    func proved<Value>(
        _ limits: RateLimits, at now: Date, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let problem as Problem where problem.kind == .wrongInstallationSecret {
            if let standing = limits.countWrongSecret(of: id.id, from: address, at: now) {
                throw Problem.tooManyWrongSecrets(wait: standing.reset)
            }
            throw problem
        }
    }

    /// Registers the installation. If too many new installations came from the caller's address, only an installation
    /// that is already registered may register again; `known` throws if the installation is not registered.
    ///
    /// - Throws: `rate-limited`; the errors of `known` and `register`.
    func registering(
        _ limits: RateLimits, at now: Date, known: () async throws -> Void, _ register: () async throws -> Bool
    ) async throws -> Bool {
        if let standing = limits.refusesNewInstallation(from: address, at: now) {
            do {
                try await known()
            } catch let problem as Problem where problem.kind == .installationNotFound {
                throw Problem.tooManyInstallationsOfAddress(wait: standing.reset)
            }
        }
        let isNew = try await register()
        if isNew { limits.registered(from: address, at: now) }
        return isNew
    }

    private static let secretRule = TextRule(
        pattern: "^[A-Za-z0-9_-]{43,128}$",
        rule: "43 to 128 of A-Z a-z 0-9 - and _ were expected: 32 random bytes or more in base64url.")
}

extension HTTPField.Name {
    /// The force-unwrap is safe: the literal is a valid field name (RFC 9110).
    fileprivate static let installationSecret = HTTPField.Name("Grandstand-Installation-Secret")!
}

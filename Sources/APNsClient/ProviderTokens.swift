internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// One provider token for each team and key, renewed by the clock.
final class ProviderTokens: Sendable {
    private let keys: KeyRing
    private let now: @Sendable () -> Date
    private let tokens = Mutex<[Credentials: ProviderToken]>([:])

    init(keys: KeyRing, now: @escaping @Sendable () -> Date) {
        self.keys = keys
        self.now = now
    }

    /// The token to send now.
    ///
    /// - Throws: `SigningKey.Fault` when the key file is missing or cannot be used.
    func token(for credentials: Credentials) throws -> ProviderToken {
        let time = Int(now().timeIntervalSince1970)
        let window = time - time % ProviderToken.window
        return try tokens.withLock { tokens in
            if let token = tokens[credentials], token.issuedAt >= window { return token }
            return try Self.renew(&tokens, credentials, keys, issuedAt: window)
        }
    }

    /// APNs called `token` expired: a fresh one, issued now, once it is old enough that APNs takes another.
    ///
    /// - Returns: whether there is another token to try; `false` means that a clock is off.
    func replaceExpired(_ token: ProviderToken, of credentials: Credentials) throws -> Bool {
        let time = Int(now().timeIntervalSince1970)
        return try tokens.withLock { tokens in
            if let present = tokens[credentials], present.issuedAt > token.issuedAt { return true }
            guard time - token.issuedAt >= Self.minimumAge else { return false }
            _ = try Self.renew(&tokens, credentials, keys, issuedAt: time)
            return true
        }
    }

    /// Seconds; APNs answers `TooManyProviderTokenUpdates` to those who renew sooner.
    private static let minimumAge = 1_200

    private static func renew(
        _ tokens: inout [Credentials: ProviderToken], _ credentials: Credentials, _ keys: KeyRing, issuedAt: Int
    ) throws -> ProviderToken {
        let token = try ProviderToken(
            credentials: credentials, key: try keys.key(credentials.keyID).get(), issuedAt: issuedAt)
        tokens[credentials] = token
        return token
    }
}

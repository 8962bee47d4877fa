internal import FoundationEssentials
internal import Grandstand
internal import Synchronization

/// The buckets of this process: one for each key, one for each address that fails to authenticate, one for each
/// installation that an address tries with wrong secrets.
package final class RateLimits: Sendable {
    package struct Settings: Sendable, Hashable {
        /// Requests a second of one key; `nil`: no limit. Twice as many may come at once.
        package var requests: Double?
        /// The same for what phones ask, by lookups and about their installations: millions of them share one key, so
        /// either is counted for itself.
        package var lookups: Double?
        /// Failed authentications a minute of one address; `nil`: no limit.
        package var failures: Double?

        /// New installations a minute of one address; `nil`: no limit.
        package var installations: Double?

        package init(requests: Double?, lookups: Double?, failures: Double?, installations: Double? = nil) {
            self.requests = requests
            self.lookups = lookups
            self.failures = failures
            self.installations = installations
        }
    }

    /// Buckets of a kind: beyond that, full ones are forgotten, and then all. A sender with more addresses than that
    /// gets fresh buckets; memory stays bounded.
    static let capacity = 20_000

    private let requests: RateLimit.Policy?
    private let lookups: RateLimit.Policy?
    private let failures: RateLimit.Policy?
    private let installations: RateLimit.Policy?
    /// Of a key that ships in apps, on routes that are no lookups: strangers have it, and those ask the database.
    private let strangers = RateLimit.Policy(rate: 10, burst: 20)
    private let keys = Mutex<[UUID: RateLimit]>([:])
    private let lookingUp = Mutex<[UUID: RateLimit]>([:])
    private let registering = Mutex<[UUID: RateLimit]>([:])
    private let addresses = Mutex<[String: RateLimit]>([:])
    /// Wrong secrets of an installation from one address: ten, then one in ten seconds. Its own app has another address,
    /// or the right one among them.
    private let guesses = RateLimit.Policy(rate: 0.1, burst: 10)
    private let guessing = Mutex<[Guess: RateLimit]>([:])
    private let newcomers = Mutex<[String: RateLimit]>([:])

    private struct Guess: Hashable {
        let installation: UUID
        let address: String
    }

    package init(_ settings: Settings) {
        requests = settings.requests.map { RateLimit.Policy(rate: $0, burst: 2 * $0) }
        lookups = settings.lookups.map { RateLimit.Policy(rate: $0, burst: 2 * $0) }
        failures = settings.failures.map { RateLimit.Policy(rate: $0 / 60, burst: $0) }
        installations = settings.installations.map { RateLimit.Policy(rate: $0 / 60, burst: $0) }
    }

    /// Counts a request of a key; `nil`: there is no limit.
    ///
    /// - Parameter isForClientApps: whether the key ships in apps.
    func take(
        _ key: UUID, isForClientApps: Bool = false, for access: Route.Access, at now: Date
    ) -> RateLimit.Standing? {
        if access == LookupRoutes.access {
            guard let lookups else { return nil }
            return lookingUp.withLock { Self.take(key, from: &$0, lookups, now) }
        }
        if access == InstallationRoutes.access {
            guard let lookups else { return nil }
            return registering.withLock { Self.take(key, from: &$0, lookups, now) }
        }
        if isForClientApps, access == .anyKey {
            return keys.withLock { Self.take(key, from: &$0, strangers, now) }
        }
        guard let requests else { return nil }
        return keys.withLock { Self.take(key, from: &$0, requests, now) }
    }

    /// Counts a failed authentication; `nil`: there is no limit.
    func fail(_ address: String, at now: Date) -> RateLimit.Standing? {
        guard let failures else { return nil }
        return addresses.withLock { Self.take(address, from: &$0, failures, now) }
    }

    /// Whether an address has tried too many wrong secrets of an installation to be listened to now; `nil`: it has not.
    func refusesGuess(of installation: UUID, from address: String, at now: Date) -> RateLimit.Standing? {
        let standing = guessing.withLock {
            $0[Guess(installation: installation, address: address)]?.look(guesses, at: now)
        }
        return standing.flatMap { $0.isExhausted ? $0 : nil }
    }

    /// Counts a wrong secret of an installation, for the two together and for the address.
    ///
    /// - Returns: how the address stands; `nil`: there is no limit.
    func guessed(_ installation: UUID, from address: String, at now: Date) -> RateLimit.Standing? {
        _ = guessing.withLock {
            Self.take(Guess(installation: installation, address: address), from: &$0, guesses, now)
        }
        return fail(address, at: now)
    }

    /// Whether so many installations are new from an address that no other is taken now; `nil`: another may come.
    ///
    /// Addresses that are not of the public internet are a proxy's, or of a private network: behind a proxy are all
    /// phones.
    func refusesNewcomer(from address: String, at now: Date) -> RateLimit.Standing? {
        guard let installations, Self.isPublic(address) else { return nil }
        let standing = newcomers.withLock { $0[address]?.look(installations, at: now) }
        return standing.flatMap { $0.isExhausted ? $0 : nil }
    }

    /// Counts an installation that was not known before.
    func registered(from address: String, at now: Date) {
        guard let installations, Self.isPublic(address) else { return }
        _ = newcomers.withLock { Self.take(address, from: &$0, installations, now) }
    }

    /// - Parameter address: as `APIContext.address` has it; one that is not known counts as public.
    private static func isPublic(_ address: String) -> Bool {
        guard !address.isEmpty else { return true }
        let isNetwork = address.contains(":")
        return IPAddress(isNetwork ? address + "::" : address).map(NetworkGuard().allows) ?? true
    }

    private static func take<Name: Hashable>(
        _ name: Name, from buckets: inout [Name: RateLimit], _ policy: RateLimit.Policy, _ now: Date
    ) -> RateLimit.Standing {
        if buckets[name] == nil, buckets.count >= capacity {
            buckets = buckets.filter { entry in
                var bucket = entry.value
                return !bucket.isFull(policy, at: now)
            }
            if buckets.count >= capacity { buckets.removeAll() }
        }
        return buckets[name, default: RateLimit(policy, at: now)].take(policy, at: now)
    }
}

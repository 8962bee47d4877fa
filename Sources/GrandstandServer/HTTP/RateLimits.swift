internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Synchronization

/// The rate limits of this process. By key, it counts requests other than lookups and requests about installations. By
/// address, it counts failed authentications and new installations. By installation and address, it counts wrong
/// secrets.
final class RateLimits: Sendable {
    private struct Guess: Hashable {
        let installation: UUID
        let address: String
    }

    private let keys: Buckets<UUID>
    /// The limit of a key that ships in apps, for requests other than lookups and installations. This limit is low,
    /// because strangers have such keys, and these requests query the database.
    private let clientApps = Buckets<UUID>(RateLimit.Policy(rate: 10, burst: 20))
    private let addresses: Buckets<String>
    /// The limit of wrong secrets for one installation from one address: ten at once, and after these one every ten
    /// seconds. The owner's app is not affected, because it sends the right secret.
    private let wrongSecrets = Buckets<Guess>(RateLimit.Policy(rate: 0.1, burst: 10))
    private let newInstallations: Buckets<String>

    /// 0 means no limit.
    ///
    /// - Parameters:
    ///   - requests: of one key per second. A burst may have twice as many.
    ///   - failures: failed authentications of one address per minute.
    ///   - installations: new installations of one address per minute.
    init(requests: Double = 0, failures: Double = 0, installations: Double = 0) {
        func policy(_ rate: Double, _ burst: Double) -> RateLimit.Policy? {
            rate > 0 ? RateLimit.Policy(rate: rate, burst: burst) : nil
        }
        keys = Buckets(policy(requests, 2 * requests))
        addresses = Buckets(policy(failures / 60, failures))
        newInstallations = Buckets(policy(installations / 60, installations))
    }

    /// Counts a request of a key. Returns `nil` if there is no limit. Lookups and requests about installations have none,
    /// because millions of phones share one key.
    ///
    /// - Parameters:
    ///   - isForClientApps: whether the key ships in apps.
    ///   - scopes: of the operation (`Route.scopes`).
    func take(
        _ key: UUID, isForClientApps: Bool = false, for scopes: [Contract.Scope], at now: Date
    ) -> RateLimit.Standing? {
        if scopes == Contract.Operation.lookup.scopes || scopes == Contract.Operation.putInstallation.scopes {
            return nil
        }
        return (isForClientApps && scopes.isEmpty ? clientApps : keys).take(key, at: now)
    }

    /// Counts a failed authentication. Returns `nil` if there is no limit.
    func fail(_ address: String, at now: Date) -> RateLimit.Standing? { addresses.take(address, at: now) }

    /// Counts a wrong secret, for the pair of installation and address, and for the address.
    ///
    /// - Returns: the limit that is exceeded; `nil`: none.
    func countWrongSecret(of installation: UUID, from address: String, at now: Date) -> RateLimit.Standing? {
        let pair = wrongSecrets.take(Guess(installation: installation, address: address), at: now)
        let standing = pair?.isExhausted == true ? pair : fail(address, at: now)
        return standing.flatMap { $0.isExhausted ? $0 : nil }
    }

    /// The limit of an address with too many new installations; `nil`: another installation may register.
    ///
    /// Only public addresses are limited. Other addresses belong to a proxy or a private network, and all phones may be
    /// behind one proxy.
    func refusesNewInstallation(from address: String, at now: Date) -> RateLimit.Standing? {
        guard Self.isPublic(address) else { return nil }
        return newInstallations.take(address, at: now, 0).flatMap { $0.isExhausted ? $0 : nil }
    }

    /// Counts a new installation.
    func registered(from address: String, at now: Date) {
        if Self.isPublic(address) { _ = newInstallations.take(address, at: now) }
    }

    /// - Parameter address: in the form of `APIContext.address`; an unknown address counts as public.
    private static func isPublic(_ address: String) -> Bool {
        guard !address.isEmpty else { return true }
        let isNetwork = address.contains(":")
        return IPAddress(isNetwork ? address + "::" : address).map(NetworkGuard().allows) ?? true
    }
}

/// Token buckets with one policy, by name.
private final class Buckets<Name: Hashable & Sendable>: Sendable {
    /// The maximum number of buckets. When a new bucket would exceed this number, the buckets that have all their tokens
    /// are removed. If the number is still exceeded, all buckets are removed. A sender with more addresses than this
    /// number gets new buckets again and again, but the memory stays bounded.
    private static var capacity: Int { 20_000 }

    private let policy: RateLimit.Policy?
    private let buckets = Mutex<[Name: RateLimit]>([:])

    /// - Parameter policy: `nil`: there is no limit.
    init(_ policy: RateLimit.Policy?) { self.policy = policy }

    /// - Parameter count: 0: only the state is asked for.
    func take(_ name: Name, at now: Date, _ count: Double = 1) -> RateLimit.Standing? {
        guard let policy else { return nil }
        return buckets.withLock { buckets in
            if buckets[name] == nil, buckets.count >= Self.capacity {
                buckets = buckets.filter { entry in
                    var bucket = entry.value
                    let standing = bucket.take(policy, at: now, 0)
                    return standing.remaining < standing.limit
                }
                if buckets.count >= Self.capacity { buckets.removeAll() }
            }
            return buckets[name, default: RateLimit(policy, at: now)].take(policy, at: now, count)
        }
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// Some pushes to devices that are claimed, sent and settled together: starts of a run, or updates of a lane.
struct Shard: Sendable {
    /// An addressee of a push.
    struct Member: Sendable, Hashable {
        /// The number of its row, an installation or an activity.
        var row: Int
        var token: DeviceToken
        /// The index of its push in `pushes`. An update has two pushes, the second for phones that want few.
        var push: Int = 0
        /// The pushes that it was sent before.
        var attempts: Int = 0
        /// Whether the phone has frequent pushes turned off. If so, a message without a ringing alert gets priority 5,
        /// and the member gets no other message for some time.
        var wantsFew: Bool = false
        /// The newest message whose alert the member had, or may have had, before this push.
        var rang: Int = 0
    }

    /// What the pushes of some members have in common.
    struct Push: Sendable {
        var body: [UInt8]
        var priority: APNsPriority
        var expiration: Int
        /// The request IDs of the members are derived from this, so that a repetition of a push has the same ID; `nil`:
        /// each has its own.
        var requestID: UUID?
        var collapseID: String?
    }

    /// Its owner: a run of a start, or a lane.
    var owner: Int
    /// The shard's number in its run, or the message's `attempts`. The settlement names it, so that a repeated or late settlement
    /// changes nothing.
    var lease: Int
    var address: APNsAddress
    /// A push expires if its next attempt would be later than this.
    var deadline: Date
    var pushes: [Push] = []
    var members: [Member] = []
    /// The lane's message (`deliveries.id`); `nil`: the members joined late and get the content that the others already
    /// have, or get a start.
    var delivery: Int?
    /// The type of attributes of a start.
    var attributesType = ""

    func request(for member: Member) -> DevicePush {
        let push = pushes[member.push]
        return DevicePush(
            token: member.token, body: push.body, priority: push.priority, expiration: push.expiration,
            requestID: push.requestID?.numbered(member.row) ?? UUID(), collapseID: push.collapseID)
    }
}

extension UUID {
    /// A UUID derived from this one and a number. Numbers of less than 56 bits do not change version and variant.
    fileprivate func numbered(_ number: Int) -> UUID {
        var bytes = uuid
        withUnsafeMutableBytes(of: &bytes) { bytes in
            let half = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ UInt64(number).bigEndian
            bytes.storeBytes(of: half, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: bytes)
    }
}

/// One complete request to `/3/device/…`. A repetition sends exactly the same bytes.
package struct DevicePush: Sendable, Hashable {
    var token: DeviceToken
    /// The whole JSON body.
    var body: [UInt8]
    var priority: APNsPriority
    /// The value of `apns-expiration`.
    var expiration: Int
    /// The value of `apns-id`.
    var requestID: UUID
    /// The value of `apns-collapse-id`: for a phone that is offline, APNs keeps one push of each such ID. `nil`: there
    /// is no such header.
    var collapseID: String?
}

/// The outcome of one push of a shard.
struct PushOutcome: Sendable, Hashable {
    var member: Shard.Member
    /// When the push was made.
    var sentAt: Date
    /// The consequence of APNs' answer; `nil`: the push was not made.
    var verdict: TokenVerdict?
}

extension [PushOutcome] {
    /// The progress of the message after these outcomes. A push without an answer is sent again, because the same
    /// message changes nothing on a device.
    ///
    /// - Parameter rest: what is left after them.
    /// - Returns: with the most frequent reason of failures.
    func progress(_ rest: TokenProgress) -> (progress: TokenProgress, reason: String?) {
        var progress = rest
        for outcome in self {
            switch outcome.verdict {
            case .accepted: progress.accepted += 1
            // A suspect token does not count as gone: it may be valid for another topic or environment.
            case .rejected, .suspect: progress.rejected += 1
            case .expired: progress.expired += 1
            case .gone: progress.gone += 1
            case .retry, .unknown, nil: break
            }
        }
        let reasons = Dictionary(grouping: compactMap(\.verdict?.reason)) { $0 }.mapValues(\.count)
        return (progress, reasons.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key)
    }
}

extension PushOutcome {
    /// What becomes of the member.
    ///
    /// - Parameter rest: seconds between two pushes to a member that wants few.
    /// - Returns:
    ///   - due: when the push is sent again; `nil`: its outcome is final. A push that was not sent is due at once. A push
    ///     without an answer is repeated with the same timestamp and request ID, which changes nothing on a device.
    ///   - tries: the pushes so far; at least one if the push is sent again.
    ///   - restsUntil: until when a member that wants few pushes, and may have got one, gets no further one without an
    ///     alert.
    ///   - rang: if APNs did not process the push, the newest message whose alert the member may have had before.
    func fate(rest: TimeInterval, at now: Date) -> (due: Date?, tries: Int, restsUntil: Date?, rang: Int?) {
        let tries = member.attempts + 1
        let rested = member.wantsFew ? sentAt.addingTimeInterval(rest).inMicroseconds : nil
        switch verdict {
        case nil: return (now, max(1, member.attempts), nil, member.rang)
        case .retry(let time, _): return (time, tries, nil, member.rang)
        case .unknown:
            let next = RetryPolicy.broadcasts.nextAttempt(after: tries, now: now, jitter: .random(in: 0..<1))
            return (next, tries, rested, nil)
        case .accepted: return (nil, 0, rested, nil)
        case .rejected, .expired, .gone, .suspect: return (nil, 0, nil, nil)
        }
    }
}

/// The store that gives shards out and records their outcomes.
protocol ShardStore: Sendable {
    /// Leases the owners that are due in an environment, and takes the next shard of each.
    func claim(_ claim: WorkClaim) async throws -> [Shard]

    /// Records the outcomes of a shard's pushes, removes tokens as the answers require, and releases the lease. Nothing
    /// changes if another replica has the lease by now.
    func settle(_ shard: Shard, _ outcomes: [PushOutcome], replica: UUID, now: Date) async throws

    /// Extends a replica's leases of these owners to `leasedUntil`, because the replica still works on them.
    func extendLeases(of owners: [Int], replica: UUID, until leasedUntil: Date) async throws

    /// When the next shard in the environment is due; `nil`: none waits.
    func nextDue(in environment: APNsEnvironment) async throws -> Date?
}

// MARK: Tokens

/// The consequences of APNs' answers for tokens. A token that is gone is removed; a suspect token is not used until its
/// app registers it again. A token is removed or marked only if the owner still has the token that the push was sent
/// to.
extension [PushOutcome] {
    /// The refused tokens as rows `r`; `nil`: there are none. A token that was registered after `before` is not affected,
    /// because it may be good.
    private var refusals: PostgresQuery? {
        let refused = compactMap { one -> (row: Int, token: String, before: Date, isGone: Bool)? in
            let (row, token) = (one.member.row, one.member.token.hex)
            return switch one.verdict {
            case .gone(_, let since): (row, token, since ?? one.sentAt, true)
            case .suspect: (row, token, one.sentAt, false)
            case .accepted, .retry, .unknown, .rejected, .expired, nil: nil
            }
        }.sorted { $0.row < $1.row }
        guard !refused.isEmpty else { return nil }
        return """
            unnest(\(refused.map(\.row)), \(refused.map(\.token)), \(refused.map(\.before)),
                \(refused.map(\.isGone))) as r(owner, token, before, is_gone)
            """
    }

    /// The statements that remove or mark start tokens of installations, for the transaction that records the verdicts.
    /// A registration locks tokens before it adds itself to starts. So in the transaction, these statements come before
    /// any statement that locks starts.
    func startTokens(of attributesType: String, at now: Date) -> [PostgresQuery] {
        guard let refusals else { return [] }
        let isSame: PostgresQuery = """
            t.installation = r.owner and t.attributes_type = \(attributesType) and t.token = decode(r.token, 'hex')
                and t.registered_at < r.before
            """
        return [
            "delete from start_tokens t using \(refusals) where \(isSame) and r.is_gone",
            """
            update start_tokens t set suspect_since = \(now) from \(refusals)
            where \(isSame) and not r.is_gone and t.suspect_since is null
            """,
        ]
    }

    /// The statements that lock all of the activities, and remove or mark their tokens. Activities are locked in order
    /// of their numbers, as reports do (`InstallationTransactions`). An update alone would lock its rows in the order of
    /// its plan.
    func activities(at now: Date) -> [PostgresQuery] {
        ["select from activities where id = any(\(map(\.member.row).sorted())) order by id for no key update"]
            + (refusals.map { refusals in
                [
                    """
                    update activities t set update_token = case when not r.is_gone then t.update_token end,
                        registered_at = case when not r.is_gone then t.registered_at end,
                        suspect_since = case when not r.is_gone then \(now) end
                    from \(refusals)
                    where t.id = r.owner and t.update_token = decode(r.token, 'hex') and t.registered_at < r.before
                        and (r.is_gone or t.suspect_since is null)
                    """
                ]
            } ?? [])
    }
}

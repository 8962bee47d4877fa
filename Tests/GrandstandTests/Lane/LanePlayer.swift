internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Testing

/// A short history of one lane: the steps, and the log that they must leave.
struct LaneScript: Sendable, CustomTestStringConvertible {
    enum Step: Sendable {
        /// A message is accepted. Messages have the numbers 1, 2, … in the order of their acceptance.
        case accept(Order)
        case wait(TimeInterval)
        /// The first replica claims the lane. Logs the number of the content that is sent, "!" and the number of the
        /// alert that rings, "^" for priority 10 without an alert or an end, and for tokens "@", or "@rest" if
        /// all tokens that are left wait. "=" means the same request as before, "-" means that nothing is sent.
        case take
        /// The second replica claims the lane.
        case takeover
        /// The first replica claims the lane, and APNs accepts the message.
        case send
        /// An answer to the message under way, or to the message with this number. Logs "ignored" if it changes
        /// nothing.
        case settle(Answer, of: Int? = nil, by: Int = 0)
        /// The outcome of the shard under way, or of the shard with this number.
        case shard(TokenProgress, number: Int? = nil)
        case release(Int)
        case extend(TimeInterval, by: Int = 0)
        case withdraw(Int)
        /// A newer state undid what this message's alert says.
        case silence(Int)
        case takeBack, makeWay
        case connect
        /// The lane loses its channel. Logs until when the channel is needed.
        case disconnect, lose, change
        case fence, close, reopen
        /// For tokens that come late.
        case lease, giveBack(by: Int)
        /// Sets the last timestamp to this many seconds after the beginning.
        case lift(Int)
        // Steps that log what the lane says.
        case states, due, newest, gate, rank, timestamp
        case reason(Int), attempts(Int), counts(Int)
    }

    struct Order: Sendable {
        var expiresIn: TimeInterval = 3_600
        var alerting = false
        var isEnd = false
        var isUrgent = false
        /// Seconds that a quiet change waits for its turn.
        var after: TimeInterval?
        var bytes = 10
        /// The number of the message whose content it takes.
        var carrying: Int?
    }

    enum Answer: Sendable {
        case ok, rejected, expired
        case retry(TimeInterval), doubted(TimeInterval)
        /// APNs did not process the message.
        case refused(TimeInterval)
    }

    private(set) var testDescription = ""
    let kind: Contract.DeliveryKind
    let policy: StoragePolicy
    let interval: TimeInterval
    let steps: [Step]
    let log: String

    init(
        to kind: Contract.DeliveryKind = .channel, storing policy: StoragePolicy = .mostRecentMessageStored,
        every interval: TimeInterval = 0, _ steps: [Step], _ log: String
    ) {
        (self.kind, self.policy, self.interval, self.steps, self.log) = (kind, policy, interval, steps, log)
    }

    static func named(_ scripts: KeyValuePairs<String, LaneScript>) -> [LaneScript] {
        scripts.map { name, script in
            var script = script
            script.testDescription = name
            return script
        }
    }

    func play() throws -> String {
        var player = try LanePlayer(self)
        for step in steps { try player.play(step) }
        return player.log.joined(separator: ", ")
    }
}

extension LaneScript.Step {
    static let update = accept(.init())
    static let alert = accept(.init(alerting: true))
    static let end = accept(.init(isEnd: true))
    static let urgent = accept(.init(isUrgent: true))
    static let ok = settle(.ok)

    static func update(for seconds: TimeInterval) -> Self { accept(.init(expiresIn: seconds)) }
    static func alert(for seconds: TimeInterval) -> Self { accept(.init(expiresIn: seconds, alerting: true)) }
    static func quiet(after seconds: TimeInterval) -> Self { accept(.init(after: seconds)) }
    static func retry(_ seconds: TimeInterval) -> Self { settle(.retry(seconds)) }

    /// A shard after which tokens are left that were not tried yet.
    static func sweep(accepted: Int = 0, number: Int? = nil) -> Self {
        last(isSwept: false, accepted: accepted, number: number)
    }

    /// A shard after which only tokens are left that wait.
    static func last(
        isSwept: Bool = true, waiting: Int = 0, resting: Int = 0, accepted: Int = 0, rejected: Int = 0, gone: Int = 0,
        expired: Int = 0, number: Int? = nil
    ) -> Self {
        var progress = TokenProgress()
        (progress.isSwept, progress.waiting, progress.resting) = (isSwept, waiting, resting)
        (progress.accepted, progress.rejected, progress.gone, progress.expired) = (accepted, rejected, gone, expired)
        return shard(progress, number: number)
    }
}

/// Plays scripts, and checks what is true of every message: a repetition is the same message, another message has a
/// higher timestamp, and an alert or an end has priority 10.
private struct LanePlayer {
    private let script: LaneScript
    private let replicas = [UUID(), UUID()]
    private var lane: Lane
    private var now = sceneTime
    private var channels = 1
    private var requests: [UUID: LaneMessage] = [:]
    private(set) var log: [String] = []

    init(_ script: LaneScript) throws {
        self.script = script
        let bundleID = try #require(BundleID(rawValue: "com.example.Goal"))
        let audience = Audience(
            id: .init(bundleID: bundleID, environment: .production), storagePolicy: script.policy,
            delivery: script.kind == .channel ? .channel : .tokens)
        lane = Lane(id: 1, audience: audience, channel: script.kind == .channel ? Self.channel(1) : nil)
    }

    private static func channel(_ number: Int) -> Lane.Channel {
        Lane.Channel(id: UUID(), channelID: "channel \(number)", takesMessages: true)
    }

    mutating func play(_ step: LaneScript.Step) throws {
        switch step {
        case .accept(let order): accept(order)
        case .wait(let seconds): now += seconds
        case .take: try take(by: 0)
        case .takeover: try take(by: 1)
        case .send:
            try take(by: 0)
            if lane[.channel].lease != nil { settle(.ok, nil, by: 0) }
        case .settle(let answer, let message, let replica): settle(answer, message, by: replica)
        case .shard(let progress, let number): try settle(progress, number)
        case .release(let message):
            settle(nil, message, by: 0)
        case .extend(let seconds, let replica): lane.extendLease(by: replicas[replica], until: now + seconds)
        case .withdraw(let message):
            let isDone = lane.withdraw(lane.messages[message - 1].broadcast, at: now)
            log.append(isDone ? "withdrawn" : "stays")
        case .silence(let message): lane.silence([lane.messages[message - 1].broadcast], at: now)
        case .takeBack:
            let end = lane.takeBackEnd(at: now)
            log.append(end.needsNews ? "resend" : end.mayHaveLeft ? "sent" : "unsent")
        case .makeWay: log.append(lane.makeWayForEnd(at: now) ? "end" : "no end")
        case .connect:
            channels += 1
            lane.connect(Self.channel(channels))
        case .disconnect: lose { $0.disconnect(at: $1) }
        case .lose: lose { $0.disconnect(refusal: "ChannelNotRegistered", at: $1) }
        case .change:
            var audience = lane.audience
            audience.storagePolicy = .noMessageStored
            lose { $0.change(audience, at: $1) }
        case .fence: lane.fence(at: now)
        case .close: lane.close(at: now)
        case .reopen: lane.reopen(closedAt: now)
        case .lease: log.append(lane.leaseLate(for: claim(by: 0)) ? "leased" : "busy")
        case .giveBack(let replica): lane.releaseLate(by: replicas[replica], at: now)
        case .lift(let seconds): lane[.channel].lastTimestamp = Int(sceneTime.timeIntervalSince1970) + seconds
        case .states: log.append(lane.messages.map(\.state.rawValue).joined(separator: " "))
        case .due: logTime(lane.dueTime(script.kind, at: now), or: "idle")
        case .newest: log.append(number(of: lane.newest))
        case .gate: log.append(lane.closedAt != nil ? "closed" : lane.fencedAt != nil ? "fenced" : "open")
        case .rank: log.append("\(lane.rank(at: now))")
        case .timestamp: log.append("\(lane[.channel].lastTimestamp - Int(sceneTime.timeIntervalSince1970))")
        case .reason(let message): log.append(lane.messages[message - 1].reason ?? "none")
        case .attempts(let message): log.append("\(lane.messages[message - 1].attempts)")
        case .counts(let message):
            let counts = Contract.TokenCounts(
                try #require(lane.messages[message - 1].tokens), lane.messages[message - 1].state)
            let parts = [counts.accepted, counts.rejected, counts.gone, counts.expired, counts.pending]
            log.append("\(counts.total): " + parts.map(String.init).joined(separator: " "))
        }
        // Does what the store does after each call.
        lane[.channel].storedDue = lane[.channel].lease == nil ? lane.dueTime(at: now) : nil
    }

    private mutating func lose(_ channel: (inout Lane, Date) -> Void) {
        logTime(lane.channelNeededUntil, or: "free")
        channel(&lane, now)
    }

    private mutating func accept(_ order: LaneScript.Order) {
        let expiresAt = now + order.expiresIn
        let isStored = lane.audience.storagePolicy == .mostRecentMessageStored
        lane.accept(
            LaneMessage(
                id: lane.messages.count + 1, broadcast: UUID(), isEnd: order.isEnd,
                priority: order.alerting || order.isEnd || order.isUrgent ? .immediate : .powerAware,
                silentPriority: order.isEnd || order.isUrgent ? .immediate : .powerAware, hasAlert: order.alerting,
                ringsUntil: order.alerting ? min(expiresAt, now + 900) : nil,
                apnsExpiration: isStored ? Int(expiresAt.timeIntervalSince1970.rounded(.up)) : 0,
                expiresAt: expiresAt, nextAttemptAt: order.after.map { now + $0 }, requestID: UUID(),
                hasContent: order.carrying == nil, contentOf: order.carrying.map { lane.messages[$0 - 1].broadcast },
                contentBytes: order.bytes,
                alertBytes: order.alerting ? 20 : nil, tokens: script.kind == .tokens ? TokenProgress() : nil), at: now)
    }

    private func claim(by replica: Int) -> WorkClaim {
        var claim = WorkClaim(environment: .production, limit: 1, replica: replicas[replica], at: now, lease: 5)
        claim.laneInterval = script.interval
        return claim
    }

    private mutating func take(by replica: Int) throws {
        let claim = claim(by: replica)
        guard let taken = lane.take(claim, to: script.kind, requestID: UUID.init) else { return log.append("-") }
        let timestamp = try #require(taken.timestamp)
        #expect(taken.channelID == lane.channel?.channelID)
        let isLoud = taken.hasAlert || taken.isEnd
        #expect(!isLoud || taken.priority == .immediate)
        let before = requests[taken.requestID]
        if let before {
            #expect(before.timestamp == timestamp && before.source == taken.source)
            #expect(before.hasAlert == taken.hasAlert && before.channelID == taken.channelID)
        } else {
            #expect(requests.values.allSatisfy { ($0.timestamp ?? .max) < timestamp })
        }
        requests[taken.requestID] = taken
        var text = (before == nil ? "" : "=") + number(of: taken.source)
        if taken.hasAlert { text += "!" + number(of: taken.broadcast) }
        if !isLoud, taken.priority == .immediate { text += "^" }
        if let tokens = taken.tokens { text += tokens.isSwept ? "@rest" : "@" }
        log.append(text)
    }

    private mutating func settle(_ answer: LaneScript.Answer?, _ message: Int?, by replica: Int) {
        let refusal = APNsRefusal(status: 400, reason: .channelNotRegistered)
        let verdict: Verdict? =
            switch answer {
            case .ok: .accepted(APNsReceipt(requestID: nil))
            case .rejected: .rejected(refusal)
            case .expired: .expired(reason: "late")
            case .retry(let seconds), .refused(let seconds): .retry(at: now + seconds, reason: "slow")
            case .doubted(let seconds): .channelDoubted(refusal, next: now + seconds)
            case nil: nil
            }
        let sent = lane.messages[(message ?? underWay ?? 1) - 1]
        var settled = ClaimedDelivery(sent, of: lane, by: replicas[replica], verdict, at: now)
        if case .refused = answer { settled.mayHaveBeenProcessed = false }
        let before = lane
        if lane.settle(settled, at: now) != nil { log.append("doubt") }
        if lane == before { log.append("ignored") }
    }

    private mutating func settle(_ progress: TokenProgress, _ number: Int?) throws {
        let message = try #require(underWay)
        let isFailed = progress.waiting + progress.rejected + progress.gone + progress.expired > 0
        let isCounted = lane.settle(
            progress, reason: isFailed ? "slow" : nil, of: message,
            number: number ?? lane.messages[message - 1].attempts, by: replicas[0],
            again: progress.isSwept ? now + 7 : nil, at: now)
        if !isCounted { log.append("ignored") }
    }

    private var underWay: Int? { lane.messages.firstIndex { $0.state == .sending }.map { $0 + 1 } }

    private func number(of broadcast: UUID?) -> String {
        lane.messages.firstIndex { $0.broadcast == broadcast }.map { "\($0 + 1)" } ?? "none"
    }

    /// Logs in how many seconds a time is.
    private mutating func logTime(_ time: Date?, or other: String) {
        guard let time else { return log.append(other) }
        let seconds = (time.timeIntervalSince(now) * 1_000).rounded() / 1_000
        log.append("+\(seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)")")
    }
}

internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// A random history of one lane, and a simple model: the list of all requests, in order. The model derives from that
/// list which message may be sent, and the lane must agree.
struct LaneHistory {
    /// A message as the model knows it.
    private struct Order {
        let message: LaneMessage
        /// The time when the message's last attempt may be repeated.
        var retryAt: Date?
        var isWithdrawn = false
        /// Whether the message's content was sent with another message's alert.
        var wasCarried = false
        /// The number of the message's attempts that APNs may have processed.
        var openAttempts = 0
        var isDone = false

        /// Whether a device may have the message's content, or the message's alert.
        var left: Bool { wasCarried || openAttempts > 0 }
    }

    private var random: SplitMix64
    private let verbs: LaneVerbs
    private let interval: TimeInterval
    private(set) var lane: Lane
    private var now = sceneTime
    private let replicas: [UUID]
    private var orders: [Order] = []
    private var underWay: (message: LaneMessage, replica: UUID, until: Date)?
    private var forms: [UUID: LaneMessage] = [:]
    private var lastTimestamp = 0
    private var lastContent = -1
    private var lastTake: Date?
    /// No message is sent before this time. After a message that was sent late, the interval is shorter, but at least
    /// half as long.
    private var earliest = Date.distantPast
    private var heldUntil: Date?
    /// Apple's ID of the channel for messages; `nil`: none.
    private var channel: String?
    private var channels = 0
    /// The `apns-expiration` values that organisers set, by broadcast.
    private var headers: [UUID: Int] = [:]
    /// The lane's first mistake; `nil`: none.
    private(set) var fault: String?
    private(set) var story: [String] = []
    private(set) var seen: Set<String> = []

    init(seed: UInt64, verbs: LaneVerbs = LaneVerbs()) {
        random = SplitMix64(state: seed)
        self.verbs = verbs
        interval = random.pick([0, 1, 5])
        replicas = [random.uuid(), random.uuid()]
        let audience = Audience(
            id: .init(bundleID: BundleID(rawValue: "com.example.Goal")!, environment: .production),
            storagePolicy: random.policy())
        lane = Lane(id: 1, audience: audience, channel: nil)
        if random.chance(0.8) { connect() }
    }

    mutating func run(steps: Int) {
        for _ in 0..<steps where fault == nil { step() }
        if lane.channel == nil { connect() }
        if fault == nil { drain() }
    }

    private mutating func step() {
        switch Int.random(in: 0..<23, using: &random) {
        case 0..<7: accept()
        case 7..<13: take()
        case 13..<16: settle()
        case 16..<18: withdraw()
        case 18: if lane.channel == nil { connect() }
        case 19: if random.chance(0.3) { change() }
        default: now += random.pick([0.25, 1, 1, 6, 20, 600])
        }
        write()
    }

    /// Does what the store does after each call: sets `storedDue`, the time since which the lane waits, to the lane's
    /// due time, or to `nil` if the lane is leased.
    private mutating func write() {
        lane[.channel].storedDue = lane[.channel].lease == nil ? verbs.due(lane, now) : nil
    }

    // MARK: Steps

    private mutating func accept() {
        let isEnd = random.chance(0.04)
        guard lane.fencedAt == nil else {
            return expect(orders.contains { $0.message.isEnd && !$0.isWithdrawn }, "fenced without an end")
        }
        let expires = now + random.pick([4, 30, 28_800, 28_800])
        let alerts = !isEnd && random.chance(0.4)
        let broadcast = random.uuid()
        if random.chance(0.1) {
            let isStored = lane.audience.storagePolicy == .mostRecentMessageStored
            headers[broadcast] = isStored ? random.pick([0, Int(expires.timeIntervalSince1970.rounded(.up))]) : 0
        }
        let message = LaneMessage(
            id: orders.count + 1, broadcast: broadcast, isEnd: isEnd, priority: alerts ? .immediate : .powerAware,
            silentPriority: isEnd ? .immediate : .powerAware, hasAlert: alerts,
            ringsUntil: alerts ? min(expires, now + 900) : nil, apnsExpiration: header(broadcast, expires),
            expiresAt: expires, requestID: random.uuid(),
            contentBytes: random.pick([100, 5_000]), alertBytes: alerts ? 50 : nil)
        story.append(
            "accept \(orders.count + 1)\(isEnd ? " end" : alerts ? " alert" : "") for \(expires.timeIntervalSince(now))"
        )
        orders.append(Order(message: message))
        verbs.accept(&lane, message, now)
    }

    private mutating func connect() {
        channels += 1
        story.append("connect \(channels)")
        channel = "channel \(channels)"
        verbs.connect(&lane, Lane.Channel(id: random.uuid(), channelID: channel, takesMessages: true))
        verbs.judge(&lane, headers)
    }

    /// The organiser changes the storage policy, so the lane needs another channel.
    private mutating func change() {
        var audience = lane.audience
        audience.storagePolicy =
            audience.storagePolicy == .noMessageStored ? .mostRecentMessageStored : .noMessageStored
        story.append("change to \(audience.storagePolicy)")
        channel = nil
        verbs.change(&lane, audience, now)
        seen.insert("changed")
    }

    /// The expected `apns-expiration`, which depends on the channel's policy.
    private func header(_ broadcast: UUID, _ expires: Date) -> Int {
        guard lane.audience.storagePolicy == .mostRecentMessageStored else { return 0 }
        return headers[broadcast] ?? Int(expires.timeIntervalSince1970.rounded(.up))
    }

    private mutating func take() {
        let replica = random.pick(replicas)
        var claim = WorkClaim(environment: .production, limit: 1, replica: replica, at: now, lease: 5)
        claim.laneInterval = interval
        let isIdle = underWay.map { $0.until <= now } ?? true
        // If the lease has ended, `take` removes it from the lane, even if no message can be sent. So the replica no
        // longer owns the lane.
        if isIdle { underWay = nil }
        let wanted = isIdle ? expected() : nil
        var generator = random
        let taken = verbs.take(&lane, claim) { generator.uuid() }
        random = generator
        guard let taken else {
            if let wanted, lastTake.map({ $0 + interval <= now }) ?? true { fail("\(wanted) should go") }
            return
        }
        expect(isIdle, "two under way")
        expect(channel != nil && taken.channelID == channel, "goes to \(taken.channelID ?? "nowhere")")
        expect(wanted.map { $0 == taken.id } ?? true, "\(taken.id ?? 0) goes instead of \(wanted ?? 0)")
        expect(now >= earliest, "too soon after the earlier messages")
        expect(heldUntil.map { now >= $0 } ?? true, "before the time that APNs asked to wait for")
        check(taken)
        story.append("take \(taken.id ?? 0)")
        lastTake = now
        earliest = max(earliest + interval, now + interval / 2)
        underWay = (taken, replica, now + 5)
    }

    /// The ID of the message that must be sent next, according to the list of requests. `nil`: no message must be sent,
    /// or the next message waits for something other than the interval.
    private func expected() -> Int? {
        guard channel != nil, heldUntil.map({ $0 <= now }) ?? true else { return nil }
        let newest = orders.lastIndex { !$0.isWithdrawn }
        let next = orders.indices.first { index in
            let order = orders[index]
            guard !order.isDone, !order.isWithdrawn, order.message.expiresAt > now else { return false }
            return index == newest || order.message.isEnd || order.message.hasAlert && order.message.ringsUntil! > now
        }
        guard let next, let newest else { return nil }
        // A repetition waits until `retryAt`, unless something newer can be sent.
        let isRepeatable = orders[next].retryAt.map { $0 <= now } ?? true
        let alive = orders[newest].isDone || orders[newest].message.expiresAt <= now ? next : newest
        return isRepeatable || form(of: next, before: alive) != nil ? next + 1 : nil
    }

    /// What is new since the last attempt of a message; `nil`: nothing.
    private func form(of index: Int, before newest: Int) -> String? {
        guard let last = forms.values.filter({ $0.id == index + 1 }).max(by: { $0.timestamp! < $1.timestamp! }) else {
            return nil
        }
        if last.channelID != channel { return "another channel" }
        let (message, other) = (orders[index].message, orders[newest].message)
        if last.hasAlert, message.ringsUntil! <= now { return "no alert" }
        // An alert that may have rung would ring again with other content.
        let fits = message.hasAlert && newest != index && (other.contentBytes ?? 0) + 50 <= 4_960
        return orders[index].openAttempts == 0 && fits && last.source != other.broadcast ? "newer content" : nil
    }

    private mutating func check(_ taken: LaneMessage) {
        let order = orders[taken.id! - 1]
        expect(!order.isWithdrawn && order.message.expiresAt > now, "\(taken.id!) is withdrawn or expired")
        expect(taken.apnsExpiration == header(taken.broadcast, taken.expiresAt), "expires at \(taken.apnsExpiration)")
        if taken.hasAlert { expect(order.message.ringsUntil! > now, "an old alert rings") }
        let content = orders.firstIndex { $0.message.broadcast == taken.source } ?? -1
        expect(content >= lastContent, "content \(content + 1) after \(lastContent + 1)")
        expect(content < 0 || !orders[content].isWithdrawn, "withdrawn content goes")
        if let earlier = forms[taken.requestID] {
            expect(
                earlier.timestamp == taken.timestamp && earlier.source == taken.source
                    && earlier.hasAlert == taken.hasAlert && earlier.channelID == taken.channelID
                    && earlier.apnsExpiration == taken.apnsExpiration, "a repetition differs")
            expect(order.retryAt.map { now >= $0 } ?? true, "repeated too soon")
            seen.insert("repeated")
        } else {
            expect(taken.timestamp! > lastTimestamp, "timestamp \(taken.timestamp!) after \(lastTimestamp)")
            lastTimestamp = taken.timestamp!
            let others = forms.values.filter { $0.id == taken.id }
            if !others.isEmpty { seen.insert("another") }
            if others.contains(where: { $0.channelID != channel }) { seen.insert("moved") }
            let mayHaveRung = order.openAttempts > 0 && others.contains { $0.hasAlert && $0.channelID == channel }
            expect(!taken.hasAlert || !mayHaveRung, "\(taken.id!) may ring twice")
        }
        if taken.contentOf != nil { seen.insert("carried") }
        if order.message.hasAlert, !taken.hasAlert { seen.insert("stale") }
        forms[taken.requestID] = taken
        lastContent = content
        orders[taken.id! - 1].openAttempts += 1
        if content >= 0, content != taken.id! - 1 { orders[content].wasCarried = true }
    }

    private mutating func settle() {
        guard let (message, replica, until) = underWay else { return }
        underWay = nil
        let verdict: Verdict =
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1, 2: .accepted(APNsReceipt(requestID: nil))
            case 3: .retry(at: now + 3, reason: "ServiceUnavailable")
            case 4: .throttled(until: now + 7, reason: "TooManyRequests")
            default: .expired(reason: "lost")
            }
        if random.chance(0.15) {
            // The replica dies. Its result comes too late, because another replica has the lane.
            story.append("lost")
            now = max(now, until)
            return
        }
        answer(message, verdict, replica)
    }

    private mutating func answer(_ message: LaneMessage, _ verdict: Verdict, _ replica: UUID) {
        var mayHaveBeenProcessed = true
        switch verdict {
        case .accepted, .expired, .rejected: orders[message.id! - 1].isDone = true
        case .throttled(let until, _):
            mayHaveBeenProcessed = false
            heldUntil = until
            orders[message.id! - 1].retryAt = until
        case .retry(let time, _):
            mayHaveBeenProcessed = random.chance(0.5)
            orders[message.id! - 1].retryAt = time
        case .channelDoubted: break
        }
        if !mayHaveBeenProcessed { orders[message.id! - 1].openAttempts -= 1 }
        story.append("settle \(message.id!) \(verdict)\(mayHaveBeenProcessed ? "" : ", refused")")
        let stranger = replicas.first { $0 != replica }!
        let before = lane
        var settled = ClaimedDelivery(message, of: lane, by: stranger, verdict, at: now)
        settled.mayHaveBeenProcessed = mayHaveBeenProcessed
        verbs.settle(&lane, settled, now)
        expect(lane == before, "another replica's verdict counts")
        settled.replica = replica
        verbs.settle(&lane, settled, now)
        expect(lane[.channel].lease == nil, "still leased")
    }

    private mutating func withdraw() {
        guard let index = orders.indices.suffix(4).randomElement(using: &random) else { return }
        let before = lane.messages
        let isDone = verbs.withdraw(&lane, orders[index].message.broadcast, now)
        verbs.judge(&lane, headers)
        // A withdrawal can make a superseded message pending again. If the message had a time for its next attempt, it
        // does not wait for that time.
        for (place, message) in before.enumerated() where message.state == .superseded {
            if !lane.messages[place].state.isSettled { orders[place].retryAt = nil }
        }
        story.append("\(index + 1) \(isDone ? "withdrawn" : "stays")")
        if isDone {
            expect(!orders[index].left, "\(index + 1) left and is withdrawn")
            orders[index].isWithdrawn = true
            seen.insert(orders[index].message.isEnd ? "reopened" : "withdrawn")
            if before[index].attempts > 0 { seen.insert("refused") }
        }
    }

    /// From now on APNs accepts every message. The remaining messages are sent when they are due, and the newest state
    /// arrives last.
    private mutating func drain() {
        if let until = underWay?.until { now = max(now, until) }
        underWay = nil
        for _ in 0..<400 {
            write()
            guard fault == nil, let due = verbs.due(lane, now) else { break }
            now = max(now, due)
            take()
            if let (message, replica, _) = underWay {
                underWay = nil
                answer(message, .accepted(APNsReceipt(requestID: nil)), replica)
            }
        }
        guard fault == nil else { return }
        expect(lane.messages.allSatisfy(\.state.isSettled), "something waits for ever")
        expect(verbs.due(lane, now) == nil && lane[.channel].lease == nil, "due with nothing to do")
        let standing = orders.last { !$0.isWithdrawn }
        expect(lane.newest == standing?.message.broadcast, "the newest is another one")
        for (index, order) in orders.enumerated() {
            let state = lane.messages[index].state
            expect((state == .cancelled) == order.isWithdrawn, "\(index + 1) is \(state)")
            if state == .superseded {
                let isReplaced = orders[(index + 1)...].contains { !$0.isWithdrawn } || order.message.expiresAt <= now
                expect(isReplaced, "\(index + 1) gave way to nothing")
                expect(!order.message.isEnd, "an end gave way")
            }
        }
        if let standing, standing.message.expiresAt > now, !standing.isDone { fail("the newest did not go") }
    }

    private mutating func expect(_ holds: Bool, _ words: String) {
        if !holds { fail(words) }
    }

    private mutating func fail(_ words: String) { fault = fault ?? "\(words); \(story.suffix(24))" }
}

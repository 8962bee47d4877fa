internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Invariants of a lane with random acceptances, withdrawals, temporary refusals and lost answers. A failure prints its
/// seed.
@Suite(.timeLimit(.minutes(3)))
struct LaneWorldTests {
    @Test func `in random histories only the newest state and recent alerts are sent, and nothing withdrawn`()
        async throws
    {
        try await withStores { stores in
            var seen: Set<LaneWorld.Sight> = []
            for seed in UInt64(1)...16 {
                var world = LaneWorld(stores, seed: seed)
                try await world.open()
                for _ in 0..<100 { try await world.step() }
                try await world.close()
                try await world.drain()
                seen.formUnion(world.seen)
            }
            // Each situation must occur in some random run; otherwise the test shows nothing about it.
            #expect(seen == Set(LaneWorld.Sight.allCases), "\(seen)")
        }
    }
}

/// One lane, and the calls that it received.
private struct LaneWorld {
    enum Sight: CaseIterable {
        /// An alert was sent with newer content than its own.
        case carried
        /// A message that was sent, but not accepted by APNs, was changed and sent anew.
        case changed
        /// A message was sent without its alert, which was too old.
        case stale
        /// Withdrawals that succeeded, and that were refused.
        case withdrawn, tooLate
        /// The broadcast that had replaced an update was withdrawn, and then the update was sent.
        case wentAfterAll
        /// An end was withdrawn.
        case reopened
        /// A message was repeated.
        case repeated
    }

    /// A broadcast, identified by the number in its content and its alert.
    private struct Order {
        let broadcast: Broadcast
        let expiresAt: Date
        let ringsUntil: Date?
        let isEnd: Bool
        var isWithdrawn = false
        var wasReplaced = false
    }

    private let stores: Stores
    private let seed: UInt64
    private let key: String
    private var random: SplitMix
    private var orders: [Order] = []
    private var underWay: (delivery: ClaimedDelivery, until: Date)?
    /// Messages by request ID.
    private var messages: [UUID: ClaimedDelivery] = [:]
    private var lastContent = 0
    private var lastTimestamp = 0
    /// Numbers that were sent in a message.
    private var sent: Set<Int> = []
    private var rung: Set<Int> = []
    private(set) var seen: Set<Sight> = []
    /// The steps so far, printed with a failure.
    private var story: [String] = []

    init(_ stores: Stores, seed: UInt64) {
        self.stores = stores
        self.seed = seed
        key = "match-\(seed)"
        random = SplitMix(state: seed)
    }

    mutating func open() async throws { try await stores.open(key) }

    mutating func step() async throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<4: try await accept(.update(content, expiresIn: isRare ? 4 : nil))
        case 4..<7: try await accept(.update(content, alert: alert, expiresIn: isRare ? 30 : nil))
        case 7: if isRare { try await accept(.end(content)) }
        case 8..<13: try await claim()
        case 13..<16: try await settle()
        case 16..<18: try await withdraw(orders.indices.suffix(4).randomElement(using: &random))
        default: stores.clock.advance(by: [0.25, 1, 1, 6, 20, 600].randomElement(using: &random) ?? 1)
        }
    }

    /// Sequences that seldom occur by chance: an update that is sent after all, an alert that becomes too old.
    mutating func close() async throws {
        if seed.isMultiple(of: 2) {
            for _ in 1...2 { try await accept(.update(content)) }
            try await withdraw(orders.indices.last)
        } else {
            try await accept(.update(content, alert: alert))
            stores.clock.advance(by: 900)
        }
    }

    /// Apple accepts everything from now on, so all waiting messages are sent.
    mutating func drain() async throws {
        if let underWay { stores.clock.advance(by: max(0, underWay.until.timeIntervalSince(stores.now))) }
        underWay = nil
        for _ in 0..<200 {
            try await claim()
            if let delivery = underWay?.delivery {
                try await settled(delivery, .ok)
            } else if let due = try await stores.outbox.nextDue(in: .production) {
                stores.clock.advance(by: max(0, due.timeIntervalSince(stores.now)))
            } else {
                break
            }
        }
        try check(
            try await stores.count("select count(*) as n from deliveries where settled_at is null") == 0, "pending")
        let standing = orders.indices.filter { !orders[$0].isWithdrawn }
        let entry = try await stores.events.lookup(
            topic: "com.example.goal", in: .production, .sample(key), contentState: true, now: stores.now)
        let shown = entry?.contentState.map { String(decoding: $0, as: UTF8.self) }
        try check(shown == standing.last.map { #"{"n":\#($0 + 1)}"# }, "lookups show \(shown ?? "nothing")")
        try check((entry?.state == .ended) == standing.contains { orders[$0].isEnd }, "the event is \(entry as Any)")
        for index in orders.indices {
            let order = orders[index]
            let broadcast = try #require(try await stores.outbox.broadcast(order.broadcast.id))
            try check((broadcast.state == .cancelled) == order.isWithdrawn, "\(index + 1) is \(broadcast.state)")
            let state = broadcast.deliveries.first?.state
            if state == .accepted, order.wasReplaced { seen.insert(.wentAfterAll) }
            if index == standing.last {
                let isInTime = state == .accepted && lastContent == index + 1
                try check(isInTime || order.expiresAt <= stores.now, "the newest is \(state as Any)")
            }
        }
    }

    // MARK: Steps

    private var content: String { #"{"n":\#(orders.count + 1)}"# }
    private var alert: String { #"{"title":"Goal \#(orders.count + 1)"}"# }
    private var isRare: Bool { mutating get { Int.random(in: 0..<4, using: &random) == 0 } }

    private mutating func accept(_ request: BroadcastRequest) async throws {
        guard let broadcast = try? await stores.accept([request], for: key)[0].get() else {
            return try check(orders.contains { $0.isEnd && !$0.isWithdrawn }, "refused before an end")
        }
        let now = stores.now
        let expiresAt = now.addingTimeInterval(Double(request.expiresIn ?? 28_800))
        let ringsUntil = request.payload.alert.map { _ in min(expiresAt, now.addingTimeInterval(900)) }
        story.append(
            "\(orders.count + 1) \(request.payload.event)\(ringsUntil == nil ? "" : " alerts") for \(request.expiresIn ?? 0)"
        )
        orders.append(
            Order(
                broadcast: broadcast, expiresAt: expiresAt,
                ringsUntil: request.expiresIn == nil ? ringsUntil : ringsUntil.map { _ in expiresAt },
                isEnd: request.payload.event == .end))
    }

    private mutating func settle() async throws {
        guard let delivery = underWay?.delivery else { return }
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: try await settled(delivery, .ok)
        case 2, 3:
            let at = stores.now.addingTimeInterval(Double(Int.random(in: 1...30, using: &random)))
            try await settled(delivery, .retry(at: at, reason: "ServiceUnavailable"))
        default:
            // The replica that sends the message dies.
            if let until = underWay?.until { stores.clock.advance(by: max(0, until.timeIntervalSince(stores.now))) }
            underWay = nil
        }
    }

    private mutating func settled(_ delivery: ClaimedDelivery, _ verdict: Verdict) async throws {
        try await stores.settle(delivery, verdict)
        story.append(verdict == .ok ? "accepted" : "again")
        underWay = nil
        let ringing = try numbers(delivery).alert
        if verdict == .ok, ringing > 0 { try check(rung.insert(ringing).inserted, "\(ringing) rings again") }
    }

    private mutating func withdraw(_ index: Int?) async throws {
        guard let index else { return }
        let replaced = try await recent(.superseded)
        let withdrawal = try await stores.outbox.cancel(orders[index].broadcast.id, now: stores.now)
        let isDone = try #require(withdrawal as Bool?)
        story.append("\(index + 1) \(isDone ? "withdrawn" : "stays")")
        guard isDone else {
            try check(
                sent.contains(index + 1) || orders[index].expiresAt <= stores.now, "\(index + 1) cannot be withdrawn")
            seen.insert(.tooLate)
            return
        }
        try check(!sent.contains(index + 1), "\(index + 1) was sent and withdrawn")
        seen.insert(orders[index].isEnd && !orders[index].isWithdrawn ? .reopened : .withdrawn)
        orders[index].isWithdrawn = true
        for other in try await recent(.queued).intersection(replaced) { orders[other].wasReplaced = true }
    }

    /// The indexes in `orders` of the broadcasts whose delivery is in `state`. Only the last eight broadcasts are
    /// examined.
    private func recent(_ state: Delivery.State) async throws -> Set<Int> {
        var found: Set<Int> = []
        for index in orders.indices.suffix(8) where try await stores.state(of: orders[index].broadcast) == state {
            found.insert(index)
        }
        return found
    }

    private mutating func claim() async throws {
        let now = stores.now
        let claimed = try await stores.claim(lease: 5)
        guard let delivery = claimed.first else { return }
        try check(claimed.count == 1 && underWay.map { $0.until <= now } ?? true, "two at a time")
        underWay = (delivery, now.addingTimeInterval(5))
        let (content, ringing) = try numbers(delivery)
        story.append("\(Int(now.timeIntervalSince1970) % 100_000): \(content) goes, \(ringing) rings")
        if let newest = orders.lastIndex(where: { !$0.isWithdrawn }), orders[newest].expiresAt > now {
            try check(
                content > newest || content == ringing && delivery.attempts == 1
                    || ringing > 0 && isRepetition(delivery),
                "\(content) goes, \(newest + 1) is the newest")
        }
        try check(content >= lastContent, "\(content) goes after \(lastContent)")
        try check(!orders[content - 1].isWithdrawn, "\(content) was withdrawn")
        if ringing > 0 {
            let order = orders[ringing - 1]
            try check(!order.isWithdrawn && order.ringsUntil ?? .distantPast > now, "\(ringing) rings")
            if content != ringing { seen.insert(.carried) }
        }
        if let earlier = messages[delivery.message.requestID] {
            try check(earlier.message == delivery.message, "\(content) was \(earlier.text)")
            seen.insert(.repeated)
        } else {
            let timestamp = try delivery.timestamp
            try check(timestamp > lastTimestamp, "timestamp \(timestamp) after \(lastTimestamp)")
            lastTimestamp = timestamp
            if messages.values.contains(where: { $0.id == delivery.id }) { seen.insert(.changed) }
        }
        if ringing == 0, orders[content - 1].ringsUntil.map({ $0 <= now }) ?? false { seen.insert(.stale) }
        messages[delivery.message.requestID] = delivery
        lastContent = content
        sent.formUnion([content, ringing])
    }

    /// Whether exactly the same message was sent before. If so, the alert of the message may have rung already.
    private func isRepetition(_ delivery: ClaimedDelivery) -> Bool {
        messages[delivery.message.requestID]?.message == delivery.message
    }

    /// The number in a message's content and the number in its alert; 0: no alert.
    private func numbers(_ delivery: ClaimedDelivery) throws -> (content: Int, alert: Int) {
        func number(after word: String) -> Int? {
            delivery.text.split(separator: word, maxSplits: 1).dropFirst().first.flatMap {
                Int($0.prefix { $0.isNumber })
            }
        }
        return (try #require(number(after: #"{"n":"#)), number(after: "Goal ") ?? 0)
    }

    private func check(_ holds: Bool, _ fault: @autoclosure () -> String) throws {
        try #require(holds, "seed \(seed): \(fault()); \(story.suffix(30))")
    }
}

/// SplitMix64, so that a seed always gives the same run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

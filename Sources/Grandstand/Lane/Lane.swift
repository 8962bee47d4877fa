internal import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// The messages of one audience, in order: to its channel, and to the tokens of activities without a channel. Of each kind
/// at most one message is under way, and the newest state replaces older ones. The newest content, the `end` and the
/// rising timestamps are those of the audience.
///
/// All rules about order, supersession, expiry, pacing, rank and due time are methods of this value
/// (docs/internals/states.md, "A lane"). The store locks a lane's row, loads it, calls a method and writes it back.
/// Besides, single statements write a few columns: `Outbox.reclaim`, changes of an event's audiences, the deletion of an
/// app, and the deletion of old rows.
package struct Lane: Sendable, Hashable {
    /// The channel that its messages go to.
    package struct Channel: Sendable, Hashable {
        package var id: UUID
        /// Apple's ID; `nil`: it is not created yet.
        package var channelID: String?
        /// Whether its state allows messages.
        package var takesMessages: Bool

        package init(id: UUID, channelID: String?, takesMessages: Bool) {
            self.id = id
            self.channelID = channelID
            self.takesMessages = takesMessages
        }
    }

    /// The right of one replica to send the lane's messages of one kind.
    package struct Lease: Sendable, Hashable {
        package var replica: UUID
        /// After this time another replica may take the lane.
        package var until: Date

        package init(replica: UUID, until: Date) {
            self.replica = replica
            self.until = until
        }
    }

    package let id: Int
    package internal(set) var audience: Audience
    /// `nil`: the lane has no channel yet, has lost it, or needs none.
    package var channel: Channel?
    /// The unsettled messages, in order. For `withdraw` and `takeBackEnd`, the array also has the settled messages that
    /// these methods need, for example messages whose content may become the newest again.
    package var messages: [LaneMessage] = []
    /// When the lane got its `end`, or its event ended. The lane takes no more messages.
    package var fencedAt: Date?
    /// When its audience was removed or its event cancelled. Waiting messages are not sent either.
    package var closedAt: Date?
    /// The broadcast whose content people see, or will see when all waiting messages were sent.
    package var newest: UUID?
    /// The broadcast whose content is the last state of the event (`Contract.StateDraft`) for this lane's audience. `nil`: none
    /// came.
    package var lastState: UUID?
    /// Until this time APNs stores the newest message, or a device shows the ended activity.
    package var storedUntil: Date?
    private var channelSchedule = Schedule()
    private var tokensSchedule = Schedule()

    /// What each kind of messages has of its own.
    package struct Schedule: Sendable, Hashable {
        package var lease: Lease?
        /// The `aps.timestamp` of the last message; 0 before the first.
        package var lastTimestamp = 0
        /// No message is sent before this time, because of the lane's interval or because APNs asked to wait.
        package var readyAt: Date?
        /// The due time that is stored: since when the lane waits to be served; `nil`: it does not wait. Newer messages
        /// do not change this time.
        package var storedDue: Date?

        package init() {}
    }

    package subscript(kind: Contract.DeliveryKind) -> Schedule {
        get { kind == .tokens ? tokensSchedule : channelSchedule }
        set { if kind == .tokens { tokensSchedule = newValue } else { channelSchedule = newValue } }
    }

    /// The highest `aps.timestamp` of all messages: a device may know one that was sent in the other way.
    package var lastTimestamp: Int { max(channelSchedule.lastTimestamp, tokensSchedule.lastTimestamp) }

    package init(id: Int, audience: Audience, channel: Channel?) {
        self.id = id
        self.audience = audience
        self.channel = channel
    }

    /// The most seconds by which `aps.timestamp` may be ahead of the clock, when a lane sends more than one message a
    /// second. A lane that is further ahead waits for the clock, because devices drop messages that are more than about
    /// eight hours ahead (docs/internals/apns.md section 4).
    package static let maxTimestampLead = 3_600
    /// Seconds until a lane whose channel takes no messages is checked again.
    package static let recheckAfter: TimeInterval = 5

    /// Messages that are not settled, in order.
    package var pending: some Collection<LaneMessage> { messages.lazy.filter { !$0.state.isSettled } }

    /// The messages of one kind that are not settled, in order.
    package func queue(_ kind: Contract.DeliveryKind) -> some BidirectionalCollection<LaneMessage> {
        messages.filter { !$0.state.isSettled && $0.kind == kind }
    }

    /// The next message to be sent to the channel.
    package var head: LaneMessage? { queue(.channel).first }

    /// The order of an app's lanes, by the most urgent message that waits.
    package enum Rank: Int, Sendable, Hashable {
        /// An `end`, or an alert that rings.
        case ringing
        /// Priority 10.
        case immediate
        /// Priority 5 and 1.
        case quiet
    }

    /// The lane's rank among the app's lanes. Lower ranks are served first.
    package func rank(at now: Date) -> Rank {
        var rank = Rank.quiet
        for message in pending {
            if message.isEnd || message.rings(at: now) { return .ringing }
            if message.priority == .immediate { rank = .immediate }
        }
        return rank
    }

    /// When a dispatcher must examine the lane: its lease ends, its head may be sent, or a message expires; `nil`:
    /// nothing waits. If the time is in the past, the lane has waited since then.
    package func dueTime(_ kind: Contract.DeliveryKind = .channel, at now: Date) -> Date? {
        if let lease = self[kind].lease { return lease.until }
        guard let expiry = queue(kind).map(\.expiresAt).min() else { return nil }
        let head = queue(kind).first
        let next = head?.tokens?.isSwept ?? false ? head?.nextAttemptAt : sendTime(kind, at: now)
        let time = min(expiry, next ?? expiry)
        return time <= now ? min(time, self[kind].storedDue ?? time) : time
    }

    /// When the head may be sent, as far as is known; `nil`: there is no head, or no channel. Content also leaves with
    /// starts (`StartStanding.step`) and to tokens that come late (`CatchUp`), each by its own rule.
    func sendTime(_ kind: Contract.DeliveryKind, at now: Date) -> Date? {
        guard let head = queue(kind).first, kind == .tokens || channel != nil else { return nil }
        let schedule = self[kind]
        guard maySend(kind) else {
            return max(now.addingTimeInterval(Self.recheckAfter), schedule.readyAt ?? now)
        }
        let form = form(of: head, at: now)
        // If a message to tokens has begun, its next shard does not wait for the interval.
        var time = max(now, kind == .channel || form.hasNewTimestamp ? schedule.readyAt ?? now : now)
        // A message that changed since the last attempt does not wait for its next attempt. Tokens that wait have times
        // of their own, and a new token may be due earlier.
        if !form.isChanged, !(head.tokens?.isSwept ?? false), let next = head.nextAttemptAt { time = max(time, next) }
        if form.hasNewTimestamp, schedule.lastTimestamp >= now.epoch + Self.maxTimestampLead {
            time = max(time, Date(epoch: schedule.lastTimestamp - Self.maxTimestampLead + 1))
        }
        return time
    }

    /// Whether messages may be sent now.
    func maySend(_ kind: Contract.DeliveryKind) -> Bool { kind == .tokens || channel?.takesMessages ?? false }

    /// Settles messages that are not needed any longer, because the newest state replaces older ones. A later message
    /// to the same recipients supersedes a message that has no alert, or whose alert is too old to ring. It does not
    /// supersede a fresh alert, because people would miss the alert. A fresh alert to tokens is superseded once it was
    /// sent to each of them, so that tokens whose push must be repeated do not delay newer state. A message under way is
    /// not superseded. An `end` on a lane that is not fenced was undone, so it is cancelled. Expired messages are not
    /// sent.
    mutating func settleObsolete(at now: Date) {
        for index in messages.indices where !messages[index].state.isSettled && !isUnderWay(messages[index]) {
            let message = messages[index]
            let newest = messages.lastIndex { $0.kind == message.kind && !$0.state.isSettled && $0.expiresAt > now }
            if message.expiresAt <= now {
                settle(index, .expired, at: now)
            } else if message.isEnd, fencedAt == nil {
                messages[index].settle(.cancelled, at: now)
            } else if index != newest, !message.rings(at: now) || message.tokens?.isSwept ?? false {
                if let newest { hasten(newest, inPlaceOf: message) }
                settle(index, .superseded, at: now)
            }
        }
    }

    /// A message may be planned for a later time, because only members that the content type declares as quiet have
    /// changed (`StateRules`). If it supersedes another message, it is sent as early and as urgently as that message,
    /// because it also contains the changes of that message.
    private mutating func hasten(_ newest: Int, inPlaceOf message: LaneMessage) {
        guard messages[newest].attempts == 0, let time = messages[newest].nextAttemptAt else { return }
        messages[newest].nextAttemptAt = message.nextAttemptAt.map { min($0, time) }
        messages[newest].priority = max(messages[newest].priority, message.silentPriority)
    }

    /// Gives a message its final state. If only resting tokens still wait for the message, the state is `accepted`
    /// instead of `state` (`TokenProgress.isDoneButForResting`).
    mutating func settle(_ index: Int, _ state: Contract.DeliveryState, at now: Date) {
        let isDone = messages[index].tokens?.isDoneButForResting ?? false
        if isDone, state == .expired { messages[index].tokens?.expireResting() }
        messages[index].settle(isDone ? .accepted : state, at: now)
    }

    func isUnderWay(_ message: LaneMessage) -> Bool { message.state == .sending && self[message.kind].lease != nil }

    /// The state of a message that waits to be sent.
    func unsentState(_ kind: Contract.DeliveryKind) -> Contract.DeliveryState {
        kind == .tokens || channel != nil ? .queued : .waiting
    }
}

extension Contract.DeliveryKind {
    /// The most bytes of a message's body: fewer for a token than for a channel (docs/internals/apns.md section 4).
    package var bodyLimit: Int { self == .tokens ? APNsLimits.devicePayload : APNsLimits.broadcastPayload }
}

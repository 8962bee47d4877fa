internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// One event: what a lock screen shows of it, its audiences, its messages with what became of them, and what can be done.
struct EventDetail: ConsolePage {
    var template: TemplateName { .event }
    let title: String
    let refreshSeconds: Int?
    var refresh: Int? { refreshSeconds }
    let liveKey: EventKey?
    var liveEvent: EventKey? { liveKey }
    let key: String
    let state: String
    let kind: String?
    let startsAt: Moment?
    let endsAt: Moment?
    let channelsOpenAt: Moment?
    let updatedAt: Moment
    let cards: [ScoreCard]
    let audiences: [AudienceRow]
    /// How many of the audiences are left out; `nil`: none.
    let audiencesLeftOut: String?
    let starts: [StartLine]
    /// What waits for its time, the next one first.
    let coming: [TimelineEntry]
    let comingLeftOut: String?
    let timeline: [TimelineEntry]
    let pager: Pager
    let doing: EventActions

    /// What is read of an event.
    struct Contents: Sendable {
        let event: Event
        /// A page of its messages.
        let page: Page<Broadcast>
        /// The newest ones, whichever page is shown.
        let newest: [Broadcast]
        /// The next that wait for their time; not on older pages.
        var scheduled = Page<Broadcast>(items: [], nextCursor: nil)
        var starts: [AudienceStart] = []
        var previews: [BundleID: AppPreview] = [:]
    }

    private static let shownAudiences = 100

    init(_ contents: Contents, _ visit: Visit) {
        let event = contents.event
        let specification = event.specification
        title = specification.name
        // An older page does not change any more.
        refreshSeconds = visit.isAtStart ? (event.state.isOver ? 30 : 5) : nil
        liveKey = visit.isAtStart ? specification.key : nil
        key = specification.key.rawValue
        state = event.state.rawValue
        kind = specification.kind
        startsAt = specification.startsAt.map { Moment($0) }
        endsAt = specification.endsAt.map { Moment($0) }
        channelsOpenAt = specification.opensAt.map { Moment($0) }
        updatedAt = Moment(event.updatedAt)
        cards = ScoreCard.cards(event, contents.newest, contents.previews)
        audiences = zip(specification.audiences, event.channels).prefix(Self.shownAudiences).map { AudienceRow($0, $1) }
        let rest = specification.audiences.count - audiences.count
        audiencesLeftOut = rest > 0 ? "\(Wording.number(rest)) more are not shown here; the API has them all." : nil
        starts = contents.starts.map(StartLine.init)
        coming = contents.scheduled.items.map { TimelineEntry($0, of: specification.key, contents.previews) }
        comingLeftOut =
            contents.scheduled.nextCursor == nil ? nil : "More wait than are shown here; the API lists them all."
        timeline = contents.page.items.map { TimelineEntry($0, of: specification.key, contents.previews) }
        pager = Pager(visit, nextCursor: contents.page.nextCursor)
        doing = EventActions(event, starts: contents.starts)
    }
}

/// What an organiser may do with the event as it stands; `nil`: not now.
struct EventActions: Sendable {
    let composeHref: String?
    let endHref: String?
    let cancelHref: String?
    let reopenHref: String?
    let startHref: String?
    let stopAction: String?
    let moveAction: String?
    let moveVersion: String
    let startsAtLocal: String
    let endsAtLocal: String

    init(_ event: Event, starts: [AudienceStart]) {
        let specification = event.specification
        let key = specification.key
        let isOpen = !event.state.isOver
        composeHref = isOpen ? ConsolePath.composer(key) : nil
        endHref = isOpen ? ConsolePath.composer(key, from: nil, "end") : nil
        cancelHref = isOpen ? ConsolePath.event(key, "cancel") : nil
        reopenHref = isOpen ? nil : ConsolePath.event(key, "reopen")
        let states = Set(starts.map(\.report.state))
        let isToCome = states.contains(.scheduled) || states.contains(.stopped)
        startHref = isOpen && specification.start != nil && isToCome ? ConsolePath.event(key, "start") : nil
        let isStoppable = !states.isDisjoint(with: [.scheduled, .waiting, .running])
        stopAction = isOpen && isStoppable ? ConsolePath.event(key, "stop") : nil
        moveAction = isOpen ? ConsolePath.event(key, "move") : nil
        moveVersion = String(event.version)
        startsAtLocal = FormTime.local(specification.startsAt)
        endsAtLocal = FormTime.local(specification.endsAt)
    }
}

/// One audience with its channel.
struct AudienceRow: Sendable {
    let bundleID: String
    let environment: String
    let variant: String
    let storagePolicy: String
    let state: String
    let channelID: String
    let reason: String
    let advice: String?
    let nextAttemptAt: Moment?

    init(_ audience: Audience, _ channel: Audience.ChannelStatus) {
        bundleID = audience.bundleID.rawValue
        environment = audience.environment.rawValue
        variant = audience.variant?.rawValue ?? ""
        storagePolicy = audience.storagePolicy.rawValue
        state =
            channel.state == .none ? (audience.delivery == .tokens ? "by token" : "none made") : channel.state.rawValue
        channelID = channel.channelID ?? ""
        reason = channel.reason ?? ""
        advice = channel.state == .active ? nil : Advice.channel(reason: channel.reason)
        nextAttemptAt = channel.nextAttemptAt.map { Moment($0) }
    }
}

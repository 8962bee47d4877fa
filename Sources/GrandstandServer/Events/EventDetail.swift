internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The page of one event: the content on lock screens, the form for the next message, the messages with their
/// deliveries, and the actions.
struct EventDetail: ConsolePage {
    var template: TemplateName { .event }
    let title: String
    let refreshSeconds: Int?
    var refresh: Int? { refreshSeconds }
    let eventState: String
    let begins: Moment?
    let finishes: Moment?
    /// The states of all channels if one of them is not active; `nil`: all are active, or the event is over.
    let channelsNote: String?
    let facts: [Fact]
    let throttled: [String]
    let cards: [ScoreCard]
    let audiences: Table
    let starts: Table
    let startBars: [StartBar]
    let matchPlot: MatchPlot?
    /// The scheduled messages, the next one first.
    let coming: [TimelineEntry]
    let comingLeftOut: String?
    let timeline: [TimelineEntry]
    /// The headings of the delivery dots, one for each audience; empty if the messages have numbers of deliveries by
    /// state in place of dots.
    let dotHeadings: [String]
    /// The stylesheet's class for this number of headings.
    let dotsClass: String
    /// The newest message of the event.
    let latest: TimelineEntry?
    let pager: Pager
    /// Who changed the event; `nil`: this answer does not show it.
    let changes: Table?
    let doing: EventActions
    /// `nil`: the event accepts no more messages.
    let composer: Composer?

    /// The records that the page is made from.
    struct Contents: Sendable {
        let event: Contract.Event
        let version: Int
        /// One page of the event's messages.
        let page: Page<Contract.Broadcast>
        /// The newest messages, whichever page is shown.
        let newest: [Contract.Broadcast]
        /// The messages in the plot, including the newest.
        var plotted: [Contract.Broadcast] = []
        /// The next scheduled messages; empty on older pages.
        var scheduled = Page<Contract.Broadcast>(items: [], nextCursor: nil)
        var starts: [Contract.AudienceStart] = []
        var previews: [BundleID: ContentPreview] = [:]
        /// The throttles of the event's apps.
        var throttles: [Throttle] = []
        /// The newest entries of the event in the audit log, without its updates.
        var changes: [Contract.AuditEntry]?
    }

    init(_ contents: Contents, _ visit: Visit, composer: Composer? = nil) {
        let event = contents.event
        let key = event.eventKey
        title = event.name
        // An older page no longer changes.
        refreshSeconds = visit.isAtStart ? 1 : nil
        eventState = event.state.rawValue
        begins = event.startsAt.map { Moment($0) }
        finishes = event.endsAt.map { Moment($0) }
        channelsNote = Self.channelsNote(event)
        facts =
            [
                Fact("Key", .code(key.rawValue)), Fact("Kind", .quoted(event.kind ?? "")),
                Fact("Channels open", .moment(event.opensAt)), Fact("Changed", .moment(event.updatedAt)),
            ].nonEmpty
        throttled = contents.throttles.map {
            "\($0.app.bundleID), \($0.app.environment.rawValue): \($0.sentence)"
        }
        cards = ScoreCard.cards(event, contents.newest, contents.previews)
        audiences = Self.audiences(event)
        starts = Self.starts(contents.starts)
        startBars = contents.starts.prefix(Self.startBarsShown).map { StartBar($0) }
        matchPlot = MatchPlot(contents.plotted, until: event.isOver ? nil : visit.now)
        func entry(_ broadcast: Contract.Broadcast) -> TimelineEntry {
            TimelineEntry(broadcast, of: key, event.audiences, contents.previews)
        }
        coming = contents.scheduled.items.map(entry)
        comingLeftOut =
            contents.scheduled.nextCursor == nil
            ? nil : "More messages are scheduled than are shown here; the API lists them all."
        timeline = contents.page.items.map(entry)
        dotHeadings = Self.dotHeadings(event.audiences)
        dotsClass = dotHeadings.isEmpty ? "counted" : "places-\(dotHeadings.count)"
        latest = contents.newest.first.map(entry)
        // A refused form is answered at another path, so the pager needs the path of the event.
        pager = Pager(visit, path: ConsolePath.event(key), nextCursor: contents.page.nextCursor)
        changes = contents.changes.map { entries in
            Table(
                "Who ended, cancelled or changed it; the newest first", nothing: "Nobody yet.", entries,
                [
                    Column("When") { [.moment($0.at, exact: true)] }, Column("Who") { [.quoted($0.actor)] },
                    Column("Action") { [.words($0.action.rawValue)] },
                    Column("App") { [.quoted($0.bundleId ?? "")] },
                    Column("Why") { [.quoted($0.reason ?? "")] },
                ])
        }
        doing = EventActions(event, version: contents.version, starts: contents.starts)
        self.composer = composer
    }

    private static let startBarsShown = 4

    /// The words that distinguish the audiences, one or two for each.
    private static func dotHeadings(_ audiences: [Contract.EventAudience]) -> [String] {
        guard audiences.count <= DeliveryDot.places else { return [] }
        let apps = Set(audiences.map(\.bundleId)).count
        let environments = Set(audiences.map(\.environment)).count
        return audiences.map { audience in
            let words = [
                apps > 1 ? audience.bundleId.split(separator: ".").last.map(String.init) : nil,
                environments > 1 ? audience.environment.rawValue : nil, audience.variant,
            ].compactMap(\.self)
            return words.isEmpty ? audience.environment.rawValue : words.joined(separator: " ")
        }
    }

    private static func channelsNote(_ event: Contract.Event) -> String? {
        let states = event.audiences.filter { !$0.isByToken }.map(\.channel.state)
        let wrong = states.filter { $0 != .active }
        guard !event.isOver, !wrong.isEmpty else { return nil }
        return "Channels: \(Wording.tally(states.map { $0 == .none ? "not made" : $0.rawValue }))"
    }

    /// The table of audiences and their channels.
    private static func audiences(_ event: Contract.Event) -> Table {
        Table(
            "Each audience and its channel", limit: 100, event.audiences,
            [
                Column("App") { [.quoted($0.bundleId)] }, Column("Environment") { [.words($0.environment.rawValue)] },
                Column("Variant") { [.words($0.variant ?? "")] },
                Column("Storage policy") { [.words($0.storagePolicy.rawValue)] },
                Column("Channel") { [.state(Self.channel($0))] },
                Column("Apple's ID") { [.code($0.channel.channelId ?? "")] },
                Column("Why") { Advice.pieces($0.channel.reason, isActive: $0.channel.state == .active) },
                Column("Next step") { [.moment($0.channel.nextAttemptAt)] },
            ])
    }

    private static func channel(_ audience: Contract.EventAudience) -> String {
        guard audience.channel.state == .none else { return audience.channel.state.rawValue }
        return audience.isByToken ? "by token" : "none made"
    }

    /// The table of the event's start in each app and environment.
    private static func starts(_ starts: [Contract.AudienceStart]) -> Table {
        func count(_ label: String, _ number: @escaping (Contract.StartCounts) -> Int) -> Column<Contract.AudienceStart>
        {
            .number(label) { number($0.counts) }
        }
        return Table(
            "Activities that a push starts; “accepted” is what Apple said, “confirmed” what phones said", limit: .max,
            starts,
            [
                Column("Audience") { [.quoted($0.words)] },
                Column("State") { start in
                    [.state(start.state.rawValue)] + (start.waitingFor.map { [.words($0.words)] } ?? [])
                }, count("Followers") { $0.followers },
                count("Accepted") { $0.accepted }, count("Confirmed") { $0.confirmed },
                count("Rejected") { $0.rejected }, count("Unknown") { $0.unknown }, count("Pending") { $0.pending },
                Column("No start for") { [.words(Self.ineligible($0.counts.ineligible))] },
                Column("Reasons") { start in
                    let reasons = start.byReason.sorted { $0.key < $1.key }
                    return [.words(reasons.map { "\(Wording.number($0.value)) \($0.key)" }.joined(separator: ", "))]
                }, Column("Began") { [.moment($0.startedAt)] },
            ])
    }

    /// How many followers get no activity, by reason.
    private static func ineligible(_ counts: Contract.IneligibleCounts) -> String {
        [
            (counts.system, "system"), (counts.disabled, "disabled"), (counts.noToken, "noToken"),
            (counts.tooLate, "tooLate"),
        ].filter { $0.0 > 0 }.map { "\(Wording.number($0)) \($1)" }.joined(separator: ", ")
    }
}

extension Contract.StartWait {
    /// The reason why a start waits, shown after its state.
    fileprivate var words: String {
        switch self {
        case .channel: "for the channel"
        case .room: "for room: the app has as many channels as its limit allows"
        case .content: "for content: send a broadcast"
        case .contentTooLong: "for a shorter content: with the newest one the push is too long"
        case .unknown(let word): word
        }
    }
}

extension Contract.AudienceStart {
    /// `com.example.Stadium, production, de`
    var words: String { Wording.list(bundleId, environment.rawValue, variant) }
}

extension Audience {
    /// `com.example.Stadium, production, de`
    var words: String { Wording.list(bundleID.rawValue, environment.rawValue, variant?.rawValue) }
}

extension Contract.EventAudience {
    /// `com.example.Stadium, production, de`
    var words: String { Wording.list(bundleId, environment.rawValue, variant) }

    /// Whether updates go to tokens only.
    fileprivate var isByToken: Bool {
        switch delivery {
        case .tokens: true
        case .channel, .unknown: false
        }
    }
}

/// The actions that an organiser may take now; `nil`: not possible in the event's present state.
struct EventActions: Sendable {
    let endHref: String?
    let cancelHref: String?
    let reopenHref: String?
    let startHref: String?
    let stopAction: String?
    let moveAction: String?
    let moveVersion: String
    let startsAtLocal: String
    let endsAtLocal: String

    init(_ event: Contract.Event, version: Int, starts: [Contract.AudienceStart]) {
        let key = event.eventKey
        let isOpen = !event.isOver
        endHref = isOpen ? ConsolePath.composer(key, from: nil, "end") : nil
        cancelHref = isOpen ? ConsolePath.event(key, "cancel") : nil
        reopenHref = isOpen ? nil : ConsolePath.event(key, "reopen")
        let states = Set(starts.map(\.state))
        let isToCome = states.contains(.scheduled) || states.contains(.stopped)
        startHref = isOpen && event.start != nil && isToCome ? ConsolePath.event(key, "start") : nil
        let isStoppable = !states.isDisjoint(with: [.scheduled, .waiting, .running])
        stopAction = isOpen && isStoppable ? ConsolePath.event(key, "stop") : nil
        moveAction = isOpen ? ConsolePath.event(key, "move") : nil
        moveVersion = String(version)
        startsAtLocal = FormTime.local(event.startsAt)
        endsAtLocal = FormTime.local(event.endsAt)
    }
}

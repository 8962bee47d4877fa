internal import APNsWire
internal import ContentPreviews
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
    let facts: [Fact]
    let cards: [ScoreCard]
    let audiences: Table
    let starts: Table
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
        var previews: [BundleID: ContentPreview] = [:]
        /// Of its apps those that APNs throttles.
        var throttles: [Throttle] = []
    }

    init(_ contents: Contents, _ visit: Visit) {
        let event = contents.event
        let specification = event.specification
        title = specification.name
        // An older page does not change any more.
        refreshSeconds = visit.isAtStart ? (event.state.isOver ? 30 : 5) : nil
        liveKey = visit.isAtStart ? specification.key : nil
        facts =
            [
                Fact("Key", .code(specification.key.rawValue)), Fact("State", .state(event.state.rawValue)),
                Fact("Kind", .quoted(specification.kind ?? "")), Fact("Starts", .moment(specification.startsAt)),
                Fact("Ends", .moment(specification.endsAt)), Fact("Channels open", .moment(specification.opensAt)),
                Fact("Changed", .moment(event.updatedAt)),
            ].said
            + contents.throttles.map { throttle in
                Fact("\(throttle.app.bundleID), \(throttle.app.environment.rawValue)", .words(throttle.sentence))
            }
        cards = ScoreCard.cards(event, contents.newest, contents.previews)
        audiences = Self.audiences(event)
        starts = Self.starts(contents.starts)
        coming = contents.scheduled.items.map { TimelineEntry($0, of: specification.key, contents.previews) }
        comingLeftOut =
            contents.scheduled.nextCursor == nil ? nil : "More wait than are shown here; the API lists them all."
        timeline = contents.page.items.map { TimelineEntry($0, of: specification.key, contents.previews) }
        pager = Pager(visit, nextCursor: contents.page.nextCursor)
        doing = EventActions(event, starts: contents.starts)
    }

    /// Each audience, and its channel.
    private static func audiences(_ event: Event) -> Table {
        Table(
            "Each audience and its channel", limit: 100, Array(zip(event.specification.audiences, event.channels)),
            [
                Column("App") { [.quoted($0.0.bundleID.rawValue)] },
                Column("Environment") { [.words($0.0.environment.rawValue)] },
                Column("Variant") { [.words($0.0.variant?.rawValue ?? "")] },
                Column("Storage policy") { [.words($0.0.storagePolicy.rawValue)] },
                Column("Channel") { [.state(Self.channel($0.0, $0.1))] },
                Column("Apple's ID") { [.code($0.1.channelID ?? "")] },
                Column("Why") { Advice.pieces($0.1.reason, isActive: $0.1.state == .active) },
                Column("Next step") { [.moment($0.1.nextAttemptAt)] },
            ])
    }

    private static func channel(_ audience: Audience, _ status: Audience.ChannelStatus) -> String {
        guard status.state == .none else { return status.state.rawValue }
        return audience.delivery == .tokens ? "by token" : "none made"
    }

    /// What has become of the event's start in each app and environment.
    private static func starts(_ starts: [AudienceStart]) -> Table {
        func count(_ label: String, _ number: @escaping (StartReport.Counts) -> Int) -> Column<AudienceStart> {
            .number(label) { number($0.report.counts) }
        }
        return Table(
            "Activities that a push starts; “accepted” is what Apple said, “confirmed” what phones said", limit: .max,
            starts,
            [
                Column("Audience") { [.quoted($0.audience.words)] },
                Column("State") { [.state($0.report.state.rawValue)] }, count("Followers") { $0.followers },
                count("Accepted") { $0.accepted }, count("Confirmed") { $0.confirmed },
                count("Rejected") { $0.rejected }, count("Unknown") { $0.unknown }, count("To go") { $0.pending },
                Column("None for") { [.words(Self.ineligible($0.report.counts))] },
                Column("Reasons") { start in
                    let reasons = start.report.byReason.sorted { $0.key < $1.key }
                    return [.words(reasons.map { "\(Wording.number($0.value)) \($0.key)" }.joined(separator: ", "))]
                }, Column("Began") { [.moment($0.report.startedAt)] },
            ])
    }

    /// Who follows and gets none, and why.
    private static func ineligible(_ counts: StartReport.Counts) -> String {
        StartForm.Ineligible.allCases.compactMap { why in
            counts.ineligible[why].flatMap { $0 > 0 ? "\(Wording.number($0)) \(why.rawValue)" : nil }
        }.joined(separator: ", ")
    }
}

extension Audience {
    /// `com.example.Stadium, production, de`
    var words: String { Wording.list(bundleID.rawValue, environment.rawValue, variant?.rawValue) }
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

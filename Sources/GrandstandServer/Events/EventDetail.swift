internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The page of one event: the content on lock screens, the form for the next message, the messages with their
/// deliveries, and the actions.
struct EventDetail: ConsolePage {
    var template: String { "event" }
    let title: String
    let refresh: Int?
    let event: Contract.Event
    let begins: Moment?
    let finishes: Moment?
    /// The states of all channels if one of them is not active; `nil`: all are active, or the event is over.
    let channelsNote: String?
    let facts: [Fact]
    let throttled: [String]
    let cards: [ScoreCard]
    let audiences: Table
    let startReports: [StartLine]
    /// The messages; on the first page the scheduled ones come first.
    let timeline: [TimelineEntry]
    /// The newest message of the event.
    let latest: TimelineEntry?
    /// The link to the next page of messages.
    let onward: String?
    let changes: Table
    /// The pages of the actions that an organiser may take now.
    let links: [Piece.Link]
    /// `nil`: not possible in the event's present state.
    let stopAction: String?
    let move: ResourcePage.Offer?
    /// `nil`: the event accepts no more messages.
    let composer: Composer?

    /// The number of messages on one page.
    static let pageLength = 20

    /// The records that the page is made from.
    struct Contents: Sendable {
        let event: Contract.Event
        let version: Int
        /// One page of the event's messages.
        let page: Contract.Page<Contract.Broadcast>
        /// The newest messages, whichever page is shown.
        let newest: [Contract.Broadcast]
        /// The next scheduled messages; empty on older pages.
        var scheduled: [Contract.Broadcast] = []
        var starts: [Contract.AudienceStart] = []
        var previews: [String: ContentPreview] = [:]
        /// The throttles of the event's apps.
        var throttles: [ThrottledApp] = []
        /// The newest entries of the event in the audit log, without its updates.
        var changes: [Contract.AuditEntry] = []
    }

    init(_ contents: Contents, _ visit: Visit, composer: Composer? = nil) {
        let event = contents.event
        let key = event.eventKey
        title = event.name
        // An older page no longer changes.
        refresh = visit.isFirstPage ? 1 : nil
        self.event = event
        begins = event.startsAt.map { Moment($0) }
        finishes = event.endsAt.map { Moment($0) }
        channelsNote = event.channelsNote
        facts =
            [
                Fact("Key", [.code(key.rawValue)]), Fact("Kind", [.quoted(event.kind ?? "")]),
                Fact("Channels open", [.moment(event.channelsDueAt)]), Fact("Changed", [.moment(event.updatedAt)]),
            ].nonEmpty
        throttled = contents.throttles.map {
            "\($0.app.bundleID), \($0.app.environment.rawValue): \($0.sentence)"
        }
        cards = ScoreCard.cards(event, contents.newest, contents.previews)
        audiences = Self.audiences(event)
        startReports = contents.starts.prefix(4).map { StartLine($0) }
        let labels = Self.labels(event.audiences)
        func entry(_ broadcasts: ArraySlice<Contract.Broadcast>) -> TimelineEntry? {
            let before = broadcasts.dropFirst().first { $0.message?.contentState != nil }
            return broadcasts.first.map { TimelineEntry($0, of: key, labels, contents.previews, since: before) }
        }
        let sent = contents.page.items.filter { !contents.scheduled.map(\.id).contains($0.id) }
        let all = contents.scheduled + sent
        timeline = all.indices.compactMap { entry(all[$0...]) }
        latest = entry(contents.newest.prefix(5))
        onward = contents.page.nextCursor.map { ConsolePath.link(ConsolePath.event(key), [("cursor", $0)]) }
        changes = Table(
            "Who ended, cancelled or changed it; the newest first", nothing: "Nobody yet.", contents.changes,
            [
                Column("When") { [.moment($0.at, exact: true)] }, Column("Who") { [.quoted($0.actor)] },
                Column("Action") { [.words($0.action.rawValue)] }, Column("App") { [.quoted($0.bundleId ?? "")] },
                Column("Why") { [.quoted($0.reason ?? "")] },
            ])
        let isOpen = !event.isOver
        let states = Set(contents.starts.map(\.state))
        let isToCome = event.start != nil && !states.isDisjoint(with: [.scheduled, .stopped])
        links = [
            ("Start now", isOpen && isToCome, ConsolePath.event(key, "start")),
            ("End it", isOpen, ConsolePath.composer(key, from: nil, "end")),
            ("Cancel it", isOpen, ConsolePath.event(key, "cancel")),
            ("Reopen", !isOpen, ConsolePath.event(key, "reopen")),
        ].filter(\.1).map { ($0.0, $0.2) }
        let isStoppable = !states.isDisjoint(with: [.scheduled, .waiting, .running])
        stopAction = isOpen && isStoppable ? ConsolePath.event(key, "stop") : nil
        let times: [FormInput] = [
            .line("startsAt", "Starts", FormTime.field(event.startsAt), isTime: true),
            .line("endsAt", "Ends", FormTime.field(event.endsAt), isTime: true),
        ]
        move =
            event.isOver
            ? nil
            : ResourcePage.Offer(
                action: ConsolePath.event(key, "move"), button: "Move it", version: "\"\(contents.version)\"",
                inputs: times)
        self.composer = composer
    }

    /// The words that distinguish the audiences, such as their languages, by their names.
    private static func labels(_ audiences: [Contract.EventAudience]) -> [String: String] {
        let hasApps = Set(audiences.map(\.bundleId)).count > 1
        let hasEnvironments = Set(audiences.map(\.environment)).count > 1
        return audiences.reduce(into: [:]) { labels, audience in
            let app = hasApps ? audience.bundleId.split(separator: ".").last.map(String.init) : nil
            let words = [app, hasEnvironments ? audience.environment.rawValue : nil, audience.variant]
            labels[audience.words] = words.compactMap(\.self).joined(separator: " ")
        }
    }

    /// The table of audiences and their channels.
    private static func audiences(_ event: Contract.Event) -> Table {
        Table(
            "Each audience and its channel", event.audiences,
            [
                Column("App") { [.quoted($0.bundleId)] }, Column("Environment") { [.words($0.environment.rawValue)] },
                Column("Variant") { [.words($0.variant ?? "")] },
                Column("Storage policy") { [.words($0.storagePolicy.rawValue)] },
                Column("Channel") { [.state(Self.channelState($0))] },
                Column("Apple's ID") { [.code($0.channel.channelId ?? "")] },
                Column("Why") { Advice.pieces($0.channel.reason, isActive: $0.channel.state == .active) },
                Column("Next step") { [.moment($0.channel.nextAttemptAt)] },
            ])
    }

    private static func channelState(_ audience: Contract.EventAudience) -> String {
        guard audience.channel.state == .none else { return audience.channel.state.rawValue }
        return audience.isByToken ? "by token" : "none made"
    }
}

extension Contract.EventAudience {
    /// `com.example.Stadium, production, de`
    var words: String { Wording.list(bundleId, environment.rawValue, variant) }

    /// Whether updates go to tokens only.
    var isByToken: Bool { delivery == .tokens }
}

/// The content that a lock screen shows now in one app and variant: the newest content that Apple accepted.
struct ScoreCard: Sendable {
    /// The app and the variant: `com.example.Stadium, de`.
    let whose: String
    /// The content in the forms of the app's template; `nil`: the app has no template.
    let score: Contract.RenderedPreview?
    /// The content as JSON, if no template shows it.
    let scoreJSON: String?
    /// When the server accepted the message.
    let shownSince: Moment?
    /// Says that a newer message is on its way, or that there is no content yet.
    let scoreNote: String?

    /// The most cards on one page.
    static let maxCards = 12

    /// - Parameters:
    ///   - broadcasts: the newest of the event, in descending order.
    ///   - previews: the templates of the apps that have some.
    static func cards(
        _ event: Contract.Event, _ broadcasts: [Contract.Broadcast], _ previews: [String: ContentPreview]
    ) -> [ScoreCard] {
        var seen: Set<String> = []
        let first = event.audiences.filter { seen.insert(Wording.list($0.bundleId, $0.variant)).inserted }
        return first.prefix(maxCards).map { ScoreCard($0, broadcasts, previews[$0.bundleId]) }
    }

    private init(
        _ audience: Contract.EventAudience, _ broadcasts: [Contract.Broadcast], _ preview: ContentPreview?
    ) {
        whose = Wording.list(audience.bundleId, audience.variant)
        let shown = broadcasts.first { broadcast in
            broadcast.content(for: audience) != nil && broadcast.states(of: audience).contains(.accepted)
        }
        let content = shown?.content(for: audience)
        score = preview?.rendered(content)
        scoreJSON = score == nil ? content.map { ReadableJSON.text($0) } : nil
        shownSince = shown.map { Moment($0.acceptedAt, exact: true) }
        let isComing = broadcasts.prefix { $0.id != shown?.id }.contains { broadcast in
            broadcast.states(of: audience).contains { !$0.isSettled }
        }
        let nothing = content == nil ? "Apple has taken no content for it yet." : nil
        scoreNote = isComing ? "Something newer is on its way." : nothing
    }
}

extension Contract.Broadcast {
    /// The content for the audience's variant.
    fileprivate func content(for audience: Contract.EventAudience) -> [UInt8]? {
        let own = audience.variant.flatMap { message?.byVariant?[$0]?.contentState }
        return (own ?? message?.contentState).map { Array($0.bytes) }
    }

    /// The states of the deliveries to the audience's app and variant, in both environments, because one card shows
    /// both.
    fileprivate func states(of audience: Contract.EventAudience) -> [Contract.DeliveryState] {
        deliveries.filter { $0.bundleId == audience.bundleId && $0.variant == audience.variant }.map(\.state)
    }

    /// Whether nothing of the broadcast has been sent yet, so that it can be withdrawn.
    var isWithdrawable: Bool {
        state == .scheduled
            || state == .queued
                && deliveries.allSatisfy { $0.timestamp == nil && [.waiting, .queued].contains($0.state) }
    }
}

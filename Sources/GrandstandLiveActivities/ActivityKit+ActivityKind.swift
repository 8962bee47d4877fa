#if canImport(ActivityKit)
    internal import ActivityKit
    internal import Foundation
    internal import GrandstandClient

    /// ActivityKit for one type of attributes.
    protocol ActivityKind: Sendable {
        /// The name that Apple expects in `attributes-type`.
        var name: String { get }
        var startToken: Data? { get }
        var activities: [DeviceActivity] { get }

        /// Watches start tokens, and all present and future activities.
        func watch(_ events: AsyncStream<HostEvent>.Continuation) async
        func start(_ wanted: WantedStart, as found: Lookup) throws -> DeviceActivity?
        func makeStart(for id: String) -> WantedStart?
        func end(_ id: String, contentState: Data?, atOnce: Bool) async
    }

    @available(iOS 16.2, *)
    struct AttributesKind<Attributes: ActivityAttributes & Sendable>: ActivityKind
    where Attributes.ContentState: Sendable {
        typealias State = Attributes.ContentState

        let eventKey: @Sendable (Attributes) -> String

        var name: String { String(describing: Attributes.self) }

        var startToken: Data? {
            guard #available(iOS 17.2, *) else { return nil }
            return Activity<Attributes>.pushToStartToken
        }

        var activities: [DeviceActivity] { Activity<Attributes>.activities.map(deviceActivity) }

        private func deviceActivity(_ activity: Activity<Attributes>) -> DeviceActivity {
            DeviceActivity(
                id: activity.id, attributesType: name, eventKey: eventKey(activity.attributes),
                state: ActivityPhase(activity.activityState), updateToken: activity.pushToken?.hex)
        }

        func watch(_ events: AsyncStream<HostEvent>.Continuation) async {
            await withTaskGroup { group in
                if #available(iOS 17.2, *) {
                    group.addTask {
                        for await token in Activity<Attributes>.pushToStartTokenUpdates {
                            events.yield(.startToken(type: name, token: token.hex))
                        }
                    }
                }
                var watched: Set<String> = []
                // The stream may leave out activities that already exist, so list these activities first.
                for id in activities.map(\.id) where watched.insert(id).inserted { watch(id, events, &group) }
                for await activity in Activity<Attributes>.activityUpdates {
                    let id = activity.id
                    events.yield(.changed)
                    if watched.insert(id).inserted { watch(id, events, &group) }
                }
            }
        }

        /// Watches one activity. An `Activity` may not cross tasks, so each task finds it by its ID.
        private func watch(
            _ id: String, _ events: AsyncStream<HostEvent>.Continuation, _ group: inout TaskGroup<Void>
        ) {
            group.addTask { if let found = find(id) { await events.follow(found.activityStateUpdates) } }
            group.addTask { if let found = find(id) { await events.follow(found.pushTokenUpdates) } }
        }

        private func find(_ id: String) -> Activity<Attributes>? {
            Activity<Attributes>.activities.first { $0.id == id }
        }

        func makeStart(for id: String) -> WantedStart? {
            guard let activity = find(id) else { return nil }
            return try? WantedStart(
                activity.attributes, event: eventKey(activity.attributes), state: activity.content.state,
                relevanceScore: activity.content.relevanceScore)
        }

        func end(_ id: String, contentState: Data?, atOnce: Bool) async {
            let last = contentState.flatMap { try? JSONDecoder().decode(State.self, from: $0) }
            await find(id)?.end(
                last.map { ActivityContent(state: $0, staleDate: nil) },
                dismissalPolicy: atOnce ? .immediate : .default)
        }

        func start(_ wanted: WantedStart, as found: Lookup) throws -> DeviceActivity? {
            let decoder = JSONDecoder()
            let attributes = try decoder.decode(Attributes.self, from: wanted.attributes)
            // The server's content may be for a newer version of the app and fail to decode. In this case, the app's
            // own content is used.
            let newest = found.contentState.flatMap { try? decoder.decode(State.self, from: $0.bytes) }
            let content = ActivityContent(
                state: try newest ?? decoder.decode(State.self, from: wanted.contentState),
                staleDate: nil, relevanceScore: wanted.relevanceScore ?? 0)
            var pushType = PushType.token
            if #available(iOS 18, *), let channel = found.channelId { pushType = .channel(channel) }
            do {
                guard let startsAt = wanted.startsAt, startsAt > Date() else {
                    return deviceActivity(
                        try Activity.request(attributes: attributes, content: content, pushType: pushType))
                }
                guard #available(iOS 26, *) else { return nil }
                let alert = wanted.alert ?? StartAlert(title: "", body: "")
                return deviceActivity(
                    try Activity.request(
                        attributes: attributes, content: content, pushType: pushType, style: .standard,
                        alertConfiguration: AlertConfiguration(
                            title: LocalizedStringResource(stringLiteral: alert.title),
                            body: LocalizedStringResource(stringLiteral: alert.body), sound: .default),
                        start: startsAt))
            } catch ActivityAuthorizationError.visibility {
                return nil
            } catch ActivityAuthorizationError.denied {
                throw LiveActivitiesError.disabled
            }
        }
    }

    extension AsyncStream<HostEvent>.Continuation {
        /// Yields `changed` for each element of a sequence that never throws.
        func follow(_ updates: some AsyncSequence) async {
            do { for try await _ in updates { yield(.changed) } } catch {}
        }
    }

    @available(iOS 16.2, *)
    extension WantedStart {
        init<Attributes: ActivityAttributes>(
            _ attributes: Attributes, event: String, state: Attributes.ContentState, relevanceScore: Double?,
            variant: String? = nil
        ) throws {
            let encoder = JSONEncoder()
            self.init(
                eventKey: event, attributesType: String(describing: Attributes.self),
                attributes: try encoder.encode(attributes), contentState: try encoder.encode(state),
                relevanceScore: relevanceScore, variant: variant)
        }
    }

    @available(iOS 16.2, *)
    extension ActivityPhase {
        fileprivate init(_ state: ActivityState) {
            switch state {
            case .active: self = .active
            case .stale: self = .stale
            case .ended: self = .ended
            case .dismissed: self = .dismissed
            case .pending: self = .pending
            @unknown default: self = .active
            }
        }
    }

    extension Data {
        var hex: String { map { String(format: "%02x", $0) }.joined() }
    }
#endif

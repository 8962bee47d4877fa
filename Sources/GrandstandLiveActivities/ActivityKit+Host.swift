#if canImport(ActivityKit)
    public import ActivityKit
    internal import Foundation

    /// A type of attributes that an app registers. It also says how to find the event of an activity of this type.
    @available(iOS 16.2, *)
    public struct ActivityType: Sendable {
        let name: String
        let startToken: @Sendable () -> Data?
        let activities: @Sendable () -> [ActivitySnapshot]
        let watch: @Sendable (AsyncStream<HostEvent>.Continuation) async -> Void
        let start: @Sendable (WantedStart, ActivityDelivery, Data?) throws -> ActivitySnapshot
        let savedStart: @Sendable (String) -> WantedStart?
        let end: @Sendable (String, Data?, Bool) async -> Void

        /// A type of attributes.
        ///
        /// - Parameter eventKey: returns the event of an activity. Organisers put the key into the start's `attributes`,
        ///   so that the app knows the event of an activity that a push started.
        public init<Attributes: ActivityAttributes & Sendable>(
            _ type: Attributes.Type, eventKey: @escaping @Sendable (Attributes) -> String
        ) where Attributes.ContentState: Sendable {
            let kind = ActivityKind<Attributes>(eventKey: eventKey)
            name = ActivityKind<Attributes>.name
            startToken = { kind.startToken }
            activities = { Activity<Attributes>.activities.map { kind.snapshot($0) } }
            watch = { await kind.watch($0) }
            start = { try kind.start($0, by: $1, contentState: $2) }
            savedStart = { kind.savedStart(for: $0) }
            end = { await kind.end($0, contentState: $1, atOnce: $2) }
        }
    }

    /// ActivityKit for one type of attributes.
    @available(iOS 16.2, *)
    struct ActivityKind<Attributes: ActivityAttributes & Sendable>: Sendable where Attributes.ContentState: Sendable {
        let eventKey: @Sendable (Attributes) -> String

        /// The name that Apple expects in `attributes-type`.
        static var name: String { String(describing: Attributes.self) }

        var startToken: Data? {
            guard #available(iOS 17.2, *) else { return nil }
            return Activity<Attributes>.pushToStartToken
        }

        func snapshot(_ activity: Activity<Attributes>) -> ActivitySnapshot {
            ActivitySnapshot(
                id: activity.id, attributesType: Self.name, eventKey: eventKey(activity.attributes),
                state: ActivityPhase(activity.activityState), updateToken: activity.pushToken?.hex)
        }

        /// Watches start tokens, and all present and future activities.
        func watch(_ events: AsyncStream<HostEvent>.Continuation) async {
            await withTaskGroup { group in
                if #available(iOS 17.2, *) {
                    group.addTask {
                        for await token in Activity<Attributes>.pushToStartTokenUpdates {
                            events.yield(.startToken(type: Self.name, token: token.hex))
                        }
                    }
                }
                var followed: Set<String> = []
                // The stream may leave out activities that already exist, so list these activities first.
                let there = Activity<Attributes>.activities.map(\.id)
                for id in there where followed.insert(id).inserted { follow(id, events, &group) }
                for await activity in Activity<Attributes>.activityUpdates {
                    let id = activity.id
                    events.yield(.activity(snapshot(activity)))
                    if followed.insert(id).inserted { follow(id, events, &group) }
                }
            }
        }

        /// Watches one activity. An `Activity` may not cross tasks, so each task finds it by its ID.
        private func follow(
            _ id: String, _ events: AsyncStream<HostEvent>.Continuation, _ group: inout TaskGroup<Void>
        ) {
            group.addTask {
                guard let activity = find(id) else { return }
                for await _ in activity.activityStateUpdates { events.yield(.activity(snapshot(activity))) }
            }
            group.addTask {
                guard let activity = find(id) else { return }
                for await _ in activity.pushTokenUpdates { events.yield(.activity(snapshot(activity))) }
            }
        }

        private func find(_ id: String) -> Activity<Attributes>? {
            Activity<Attributes>.activities.first { $0.id == id }
        }

        func savedStart(for id: String) -> WantedStart? {
            let encoder = JSONEncoder()
            guard let activity = find(id), let attributes = try? encoder.encode(activity.attributes),
                let state = try? encoder.encode(activity.content.state)
            else { return nil }
            return WantedStart(
                eventKey: eventKey(activity.attributes), attributesType: Self.name, attributes: attributes,
                contentState: state, relevanceScore: activity.content.relevanceScore)
        }

        func end(_ id: String, contentState: Data?, atOnce: Bool) async {
            guard let activity = find(id) else { return }
            let last = contentState.flatMap { try? JSONDecoder().decode(Attributes.ContentState.self, from: $0) }
            await activity.end(
                last.map { ActivityContent(state: $0, staleDate: nil) },
                dismissalPolicy: atOnce ? .immediate : .default)
        }

        func start(
            _ wanted: WantedStart, by delivery: ActivityDelivery, contentState: Data?
        ) throws -> ActivitySnapshot {
            let decoder = JSONDecoder()
            let attributes = try decoder.decode(Attributes.self, from: wanted.attributes)
            // The server's content may be for a newer version of the app and fail to decode. In this case, the app's
            // own content is used.
            let newest = contentState.flatMap { try? decoder.decode(Attributes.ContentState.self, from: $0) }
            let state = try newest ?? decoder.decode(Attributes.ContentState.self, from: wanted.contentState)
            let content = ActivityContent(
                state: state, staleDate: nil, relevanceScore: wanted.relevanceScore ?? 0)
            do {
                return snapshot(try request(attributes, content, wanted, PushType(delivery)))
            } catch let error as ActivityAuthorizationError {
                throw StartRefusal(error)
            }
        }

        private func request(
            _ attributes: Attributes, _ content: ActivityContent<Attributes.ContentState>, _ wanted: WantedStart,
            _ pushType: PushType
        ) throws -> Activity<Attributes> {
            guard let startsAt = wanted.startsAt, startsAt > Date() else {
                return try Activity.request(attributes: attributes, content: content, pushType: pushType)
            }
            guard #available(iOS 26, *) else { throw StartRefusal.notInFront }
            let alert = wanted.alert ?? StartAlert(title: "", body: "")
            return try Activity.request(
                attributes: attributes, content: content, pushType: pushType, style: .standard,
                alertConfiguration: AlertConfiguration(
                    title: LocalizedStringResource(stringLiteral: alert.title),
                    body: LocalizedStringResource(stringLiteral: alert.body), sound: .default),
                start: startsAt)
        }
    }

    @available(iOS 16.2, *)
    extension PushType {
        /// `ActivityKitHost` chooses `channel` only on systems that have channels.
        fileprivate init(_ delivery: ActivityDelivery) {
            switch delivery {
            case .token: self = .token
            case .channel(let id):
                if #available(iOS 18, *) { self = .channel(id) } else { self = .token }
            }
        }
    }

    @available(iOS 16.2, *)
    extension ActivityPhase {
        init(_ state: ActivityState) {
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

    @available(iOS 16.2, *)
    extension StartRefusal {
        init(_ error: ActivityAuthorizationError) {
            switch error {
            case .visibility: self = .notInFront
            case .denied: self = .disabled
            default: self = .impossible(error.localizedDescription)
            }
        }
    }

    extension Data {
        var hex: String { map { String(format: "%02x", $0) }.joined() }
    }
#endif

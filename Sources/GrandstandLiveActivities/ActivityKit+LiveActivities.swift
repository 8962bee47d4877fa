#if canImport(ActivityKit)
    public import ActivityKit
    public import Foundation
    internal import GrandstandClient

    @available(iOS 16.2, *)
    extension LiveActivities {
        /// The Live Activities of this app. Create one instance at launch, and call ``start()``.
        ///
        /// - Parameters:
        ///   - server: the server's base URL.
        ///   - key: a key with the scope `device` for this app; it ships in the app.
        ///   - types: the app's types of attributes.
        ///   - bundle: the app's bundle.
        ///   - environment: the APNs environment; `nil`: the environment follows from the app's signature
        ///     (``PushEnvironment``).
        /// - Throws: `PushEnvironmentError` if the app was signed without push notifications.
        public init(
            server: URL, key: String, types: [ActivityType], bundle: Bundle = .main,
            environment: PushEnvironment? = nil
        ) throws {
            let environment = try environment ?? .of(bundle)
            let bundleID = bundle.bundleIdentifier ?? ""
            let folder = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
            self.init(
                host: ActivityKitHost(types: types, bundle: bundle),
                server: GrandstandServer(
                    client: GrandstandClient(server: server, key: key, retry: .never, cache: .standard),
                    app: .init(bundleID, .init(rawValue: environment.rawValue))),
                store: RecordStore(file: folder.appending(path: "Grandstand/\(environment.rawValue).json")),
                credentials: KeychainCredentials(account: "\(bundleID) \(environment.rawValue)"), time: .system)
        }

        /// Shows an activity. If the system supports channels and the event has one, the activity uses the event's
        /// channel. Otherwise the activity uses its own push token. Call this while the app is in the foreground.
        ///
        /// - Parameters:
        ///   - attributes: attributes of a type that the app registered.
        ///   - event: the event's key.
        ///   - state: the content to show if the server has no newer content.
        ///   - variant: the variant of one of the app's audiences in the event, e.g. a language. `nil`: the variant
        ///     that a push would start for this person: the variant given to `follow`, otherwise the variant of the
        ///     language, otherwise no variant.
        /// - Throws: `LiveActivitiesError` if the activity will never be shown; `EncodingError`.
        @discardableResult
        public func show<Attributes: ActivityAttributes>(
            _ attributes: Attributes, event: String, state: Attributes.ContentState, variant: String? = nil,
            relevanceScore: Double? = nil
        ) async throws -> ShowResult {
            var wanted = try WantedStart(attributes, event: event, state: state, relevanceScore: relevanceScore)
            wanted.variant = variant
            return try await show(wanted)
        }

        /// Shows an activity at a later date. From iOS 26 on, the system shows it at that date. On older systems, the
        /// activity is shown when the app is in the foreground after that date, or when the organiser starts the
        /// activities of the people who follow.
        ///
        /// - Parameter alert: the alert when the activity appears.
        /// - Throws: the errors of `show`.
        @discardableResult
        public func schedule<Attributes: ActivityAttributes>(
            _ attributes: Attributes, event: String, state: Attributes.ContentState, at date: Date, alert: StartAlert,
            variant: String? = nil, relevanceScore: Double? = nil
        ) async throws -> ShowResult {
            var wanted = try WantedStart(attributes, event: event, state: state, relevanceScore: relevanceScore)
            wanted.startsAt = date
            wanted.alert = alert
            wanted.variant = variant
            return try await show(wanted)
        }
    }

    @available(iOS 16.2, *)
    extension WantedStart {
        fileprivate init<Attributes: ActivityAttributes>(
            _ attributes: Attributes, event: String, state: Attributes.ContentState, relevanceScore: Double?
        ) throws {
            let encoder = JSONEncoder()
            self.init(
                eventKey: event, attributesType: String(describing: Attributes.self),
                attributes: try encoder.encode(attributes), contentState: try encoder.encode(state),
                relevanceScore: relevanceScore)
        }
    }

    /// ActivityKit as the host of the app's activities.
    @available(iOS 16.2, *)
    struct ActivityKitHost: ActivityHost {
        let types: [ActivityType]
        private let appVersion: String?

        init(types: [ActivityType], bundle: Bundle) {
            self.types = types
            appVersion = bundle.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        }

        func condition() async -> HostCondition {
            let system = ProcessInfo.processInfo.operatingSystemVersion
            let permissions = ActivityAuthorizationInfo()
            var condition = HostCondition(
                systemVersion: "\(system.majorVersion).\(system.minorVersion).\(system.patchVersion)")
            condition.appVersion = appVersion
            condition.locale = Locale.preferredLanguages.first
            condition.timeZone = TimeZone.current.identifier
            condition.liveActivitiesEnabled = permissions.areActivitiesEnabled
            condition.frequentPushesEnabled = permissions.frequentPushesEnabled
            if #unavailable(iOS 18) { condition.hasChannels = false }
            if #unavailable(iOS 26) { condition.schedules = false }
            condition.types = Set(types.map(\.name))
            for type in types {
                condition.startTokens[type.name] = type.startToken()?.hex
                condition.activities += type.activities()
            }
            return condition
        }

        func events() -> AsyncStream<HostEvent> {
            let (stream, events) = AsyncStream.makeStream(of: HostEvent.self)
            let types = types
            let watching = Task {
                await withTaskGroup { group in
                    for type in types { group.addTask { await type.watch(events) } }
                    group.addTask {
                        let permissions = ActivityAuthorizationInfo()
                        for await _ in permissions.activityEnablementUpdates { events.yield(.permissionsChanged) }
                    }
                    group.addTask {
                        let permissions = ActivityAuthorizationInfo()
                        for await _ in permissions.frequentPushEnablementUpdates {
                            events.yield(.permissionsChanged)
                        }
                    }
                }
            }
            // The notification's name is written as text, so that UIKit is not linked and extensions can use this code,
            // too.
            let front = NotificationCenter.default.addObserver(
                forName: Notification.Name("UIApplicationDidBecomeActiveNotification"), object: nil, queue: nil
            ) { _ in events.yield(.cameToFront) }
            let observer = Observer(front)
            events.onTermination = { _ in
                watching.cancel()
                observer.remove()
            }
            return stream
        }

        func start(
            _ wanted: WantedStart, by delivery: ActivityDelivery, contentState: Data?
        ) async throws -> ActivitySnapshot {
            guard let type = types.first(where: { $0.name == wanted.attributesType }) else {
                throw StartRefusal.impossible("\(wanted.attributesType) is not registered")
            }
            return try type.start(wanted, delivery, contentState)
        }

        func savedStart(for activity: String) async -> WantedStart? {
            types.lazy.compactMap { $0.savedStart(activity) }.first
        }

        func end(_ activity: String, contentState: Data?, atOnce: Bool) async {
            for type in types { await type.end(activity, contentState, atOnce) }
        }

        /// Foundation's token of an observer. The token may cross threads, because it is only passed back to
        /// `NotificationCenter`.
        private struct Observer: @unchecked Sendable {
            private let token: any NSObjectProtocol

            init(_ token: any NSObjectProtocol) { self.token = token }

            func remove() { NotificationCenter.default.removeObserver(token) }
        }
    }
#endif

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
            let app = GrandstandClient.AppEnvironment(
                bundle.bundleIdentifier ?? "", .init(rawValue: environment.rawValue))
            let folder = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
            let client = GrandstandClient(server: server, key: key, retry: .never, cache: .standard)
            self.init(
                host: ActivityKitHost(types: types, bundle: bundle),
                server: HTTPDeviceAPI(client: client, app: app),
                store: DeviceStore(
                    file: folder.appending(path: "Grandstand/\(environment.rawValue).json"),
                    vault: KeychainVault(account: "\(app.bundleId) \(environment.rawValue)"), app: app),
                time: .system)
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
            try await show(
                WantedStart(attributes, event: event, state: state, relevanceScore: relevanceScore, variant: variant))
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
            var wanted = try WantedStart(
                attributes, event: event, state: state, relevanceScore: relevanceScore, variant: variant)
            wanted.startsAt = date
            wanted.alert = alert
            return try await show(wanted)
        }
    }

    /// A type of attributes that an app registers. It also says how to find the event of an activity of this type.
    @available(iOS 16.2, *)
    public struct ActivityType: Sendable {
        let kind: any ActivityKind

        /// A type of attributes.
        ///
        /// - Parameter eventKey: returns the event of an activity. Organisers put the key into the start's `attributes`,
        ///   so that the app knows the event of an activity that a push started.
        public init<Attributes: ActivityAttributes & Sendable>(
            _ type: Attributes.Type, eventKey: @escaping @Sendable (Attributes) -> String
        ) where Attributes.ContentState: Sendable { kind = AttributesKind(eventKey: eventKey) }
    }

    /// ActivityKit as the host of the app's activities.
    @available(iOS 16.2, *)
    struct ActivityKitHost: ActivityHost {
        private let kinds: [any ActivityKind]
        private let appVersion: String?

        init(types: [ActivityType], bundle: Bundle) {
            kinds = types.map(\.kind)
            appVersion = bundle.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        }

        func condition() async -> HostCondition {
            let system = ProcessInfo.processInfo.operatingSystemVersion
            let permissions = ActivityAuthorizationInfo()
            var condition = HostCondition()
            condition.facts.systemVersion = "\(system.majorVersion).\(system.minorVersion).\(system.patchVersion)"
            condition.facts.appVersion = appVersion
            condition.facts.locale = Locale.preferredLanguages.first
            condition.facts.timeZone = TimeZone.current.identifier
            condition.facts.liveActivitiesEnabled = permissions.areActivitiesEnabled
            condition.facts.frequentPushesEnabled = permissions.frequentPushesEnabled
            if #unavailable(iOS 18) { condition.supportsChannels = false }
            if #unavailable(iOS 26) { condition.canSchedule = false }
            for kind in kinds {
                condition.types.insert(kind.name)
                condition.facts.tokens[kind.name] = kind.startToken?.hex
                condition.activities += kind.activities
            }
            return condition
        }

        func events() -> AsyncStream<HostEvent> {
            let (stream, events) = AsyncStream.makeStream(of: HostEvent.self)
            let watching = Task { [kinds] in
                await withTaskGroup { group in
                    for kind in kinds { group.addTask { await kind.watch(events) } }
                    group.addTask {
                        await events.follow(ActivityAuthorizationInfo().activityEnablementUpdates)
                    }
                    group.addTask {
                        await events.follow(ActivityAuthorizationInfo().frequentPushEnablementUpdates)
                    }
                }
            }
            // The notification's name is written as text, so that UIKit is not linked and extensions can use this code,
            // too. The observer may cross threads, because it is only passed back to `NotificationCenter`.
            nonisolated(unsafe) let observer = NotificationCenter.default.addObserver(
                forName: Notification.Name("UIApplicationDidBecomeActiveNotification"), object: nil, queue: nil
            ) { _ in events.yield(.cameToFront) }
            events.onTermination = { _ in
                watching.cancel()
                NotificationCenter.default.removeObserver(observer)
            }
            return stream
        }

        func start(_ wanted: WantedStart, as found: Lookup) async throws -> DeviceActivity? {
            guard let kind = kinds.first(where: { $0.name == wanted.attributesType }) else {
                throw LiveActivitiesError.impossible("\(wanted.attributesType) is not registered")
            }
            return try kind.start(wanted, as: found)
        }

        func makeStart(for activity: String) async -> WantedStart? {
            kinds.lazy.compactMap { $0.makeStart(for: activity) }.first
        }

        func end(_ activity: String, contentState: Data?, atOnce: Bool) async {
            for kind in kinds { await kind.end(activity, contentState: contentState, atOnce: atOnce) }
        }
    }
#endif

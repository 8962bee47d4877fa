// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Stand-in; see README.md. Apple's ActivityKit, https://developer.apple.com/documentation/activitykit
public import Foundation

@available(iOS 16.1, *)
public protocol ActivityAttributes: Decodable, Encodable {
    associatedtype ContentState: Decodable, Encodable, Hashable
}

/// Each of Apple's sequences of updates.
@available(iOS 16.1, *)
public struct Updates<Element>: AsyncSequence {
    public struct Iterator: AsyncIteratorProtocol {
        public mutating func next() async -> Element? { fatalError() }
    }

    public func makeAsyncIterator() -> Iterator { fatalError() }
}

// Apple's type is not Sendable either, so an activity may not cross tasks.
@available(iOS 16.1, *)
public class Activity<Attributes: ActivityAttributes>: Identifiable {
    public typealias ContentState = Attributes.ContentState

    public final let id: String
    public final let attributes: Attributes

    init(id: String, attributes: Attributes) {
        self.id = id
        self.attributes = attributes
    }

    @available(iOS 16.2, *)
    public var content: ActivityContent<ContentState> { fatalError() }
    public var activityState: ActivityState { fatalError() }
    public var activityStateUpdates: ActivityStateUpdates { fatalError() }
    public var pushToken: Data? { fatalError() }
    public var pushTokenUpdates: PushTokenUpdates { fatalError() }

    @available(iOS 17.2, *)
    public static var pushToStartToken: Data? { fatalError() }
    @available(iOS 17.2, *)
    public static var pushToStartTokenUpdates: PushTokenUpdates { fatalError() }
    public static var activities: [Activity<Attributes>] { fatalError() }
    public static var activityUpdates: ActivityUpdates { fatalError() }

    @available(iOS 16.2, *)
    public static func request(
        attributes: Attributes, content: ActivityContent<ContentState>, pushType: PushType? = nil
    ) throws -> Activity<Attributes> { fatalError() }

    @available(iOS 26, *)
    public static func request(
        attributes: Attributes, content: ActivityContent<ContentState>, pushType: PushType? = nil,
        style: ActivityStyle, alertConfiguration: AlertConfiguration, start: Date
    ) throws -> Activity<Attributes> { fatalError() }

    @available(iOS 16.2, *)
    public func end(
        _ content: ActivityContent<ContentState>?, dismissalPolicy: ActivityUIDismissalPolicy = .default
    ) async { fatalError() }

    public typealias ActivityStateUpdates = Updates<ActivityState>
    public typealias PushTokenUpdates = Updates<Data>
    public typealias ActivityUpdates = Updates<Activity<Attributes>>
}

@available(iOS 16.2, *)
public struct ActivityContent<State: Decodable & Encodable & Hashable> {
    public var state: State
    public var staleDate: Date?
    public var relevanceScore: Double

    public init(state: State, staleDate: Date?, relevanceScore: Double = 0) { fatalError() }
}

@available(iOS 16.2, *)
extension ActivityContent: Sendable where State: Sendable {}

@available(iOS 16.1, *)
public enum ActivityState: Codable, Hashable, Sendable {
    case active, ended, dismissed
    @available(iOS 16.2, *)
    case stale
    @available(iOS 26, *)
    case pending
}

@available(iOS 18, *)
public enum ActivityStyle: Sendable {
    case standard
}

@available(iOS 16.1, *)
public struct ActivityUIDismissalPolicy: Sendable {
    public static let `default` = Self()
    public static let immediate = Self()
}

@available(iOS 16.1, *)
public struct PushType: Sendable {
    public static var token: PushType { fatalError() }
    @available(iOS 18, *)
    public static func channel(_ name: String) -> PushType { fatalError() }
}

@available(iOS 16.1, *)
public struct AlertConfiguration: Sendable {
    public struct AlertSound: Sendable {
        public static var `default`: AlertSound { fatalError() }
    }

    public init(title: LocalizedStringResource, body: LocalizedStringResource, sound: AlertSound) { fatalError() }
}

// Part of Apple's Foundation, but not of the open-source one.
@available(iOS 16, *)
public struct LocalizedStringResource: Sendable, ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { fatalError() }
}

@available(iOS 16.1, *)
public enum ActivityAuthorizationError: Error {
    case denied, visibility
}

@available(iOS 16.1, *)
public final class ActivityAuthorizationInfo {
    public init() {}

    public var areActivitiesEnabled: Bool { fatalError() }
    public var activityEnablementUpdates: ActivityEnablementUpdates { fatalError() }
    @available(iOS 16.2, *)
    public var frequentPushesEnabled: Bool { fatalError() }
    @available(iOS 16.2, *)
    public var frequentPushEnablementUpdates: FrequentPushEnablementUpdates { fatalError() }

    public typealias ActivityEnablementUpdates = Updates<Bool>

    @available(iOS 16.2, *)
    public typealias FrequentPushEnablementUpdates = Updates<Bool>
}

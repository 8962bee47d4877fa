public import Foundation

/// How an installation stands with its server.
public struct LiveActivitiesStatus: Sendable, Hashable {
    /// What is under way.
    public enum Phase: Sendable, Hashable {
        /// Not started yet.
        case idle
        /// Something is to be said, and being said.
        case uploading
        /// The server has everything.
        case upToDate
        /// The last attempt came to nothing, for this reason; it is tried again by itself.
        case waiting(String)
        /// The key in the app is not valid any more. Nothing is sent until the app is launched again.
        case keyRefused(String)
        /// The server refuses what the app says, for this reason; it is not asked again until that changes.
        case refused(String)
        /// The keychain or the record cannot be read yet, as before the first unlock.
        case locked(String)
        /// People asked for everything to be forgotten, and it is.
        case forgotten
    }

    /// What is under way.
    public var phase: Phase = .idle
    /// The name of this installation, for support.
    public var installation: UUID?
    /// The topics that are followed here, whether or not the server knows yet.
    public var topics: [String] = []
    /// Whether people let the app show Live Activities.
    public var areActivitiesEnabled = true
    /// The activities on the device, by ID.
    public var activities: [String: ActivitySnapshot] = [:]
    /// Events whose activity is wanted and not there yet.
    public var waitingFor: [String] = []
    /// The newest state could not be written to disk, for this reason: it is lost if the app ends now.
    public var storageFailure: String?

    /// What is so before anything is known.
    public init() {}
}

/// What came of showing an activity.
public enum ShowResult: Sendable, Hashable {
    /// It is on the device, under this ID.
    case shown(String)
    /// The server or the channel is not there yet, or the app is not in front: it is shown as soon as that is so.
    case waiting
}

/// Why something cannot be done.
public enum LiveActivitiesError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A topic is 1 to 128 of `A-Z a-z 0-9 . _ : -`.
    case notATopic(String)
    /// An installation follows 200 topics at most.
    case tooManyTopics
    /// A variant is 1 to 32 of `A-Z a-z 0-9 . _ : -`.
    case notAVariant(String)
    /// People switched Live Activities off for this app, in Settings.
    case disabled
    /// The server has not known such an event for a day.
    case noSuchEvent(String)
    /// The event is over.
    case eventEnded(String)
    /// The key in the app was refused.
    case keyRefused(String)
    /// The server refuses the request.
    case refused(String)
    /// The system refuses the activity.
    case impossible(String)
    /// What is kept on the device cannot be read yet, as before the first unlock.
    case locked(String)

    /// What is wrong, in a sentence.
    public var description: String {
        switch self {
        case .notATopic(let text): "\(text) is no topic: 1 to 128 of A-Z a-z 0-9 . _ : - were expected."
        case .notAVariant(let text): "\(text) is no variant: 1 to 32 of A-Z a-z 0-9 . _ : - were expected."
        case .tooManyTopics: "An installation follows \(InstallationFacts.mostTopics) topics at most."
        case .disabled: "Live Activities are switched off for this app in Settings."
        case .noSuchEvent(let key): "The server has not known an event \(key) of this app for a day."
        case .eventEnded(let key): "The event \(key) is over."
        case .keyRefused(let detail): "The server refused the app's key: \(detail)"
        case .refused(let detail): "The server refused the request: \(detail)"
        case .impossible(let detail): "The system does not show the activity: \(detail)"
        case .locked(let detail): "What is kept on this device cannot be read yet: \(detail)"
        }
    }
}

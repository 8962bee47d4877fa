public import Foundation

/// The state of an installation and its uploads.
public struct LiveActivitiesStatus: Sendable, Hashable {
    /// The state of the uploads.
    public enum Phase: Sendable, Hashable {
        /// The device's state was not read yet, for example because ``LiveActivities/start()`` was not called.
        case idle
        /// Changes are being uploaded.
        case uploading
        /// The server has everything.
        case upToDate
        /// The last attempt failed for this reason. The library repeats the attempt by itself.
        case waiting(String)
        /// The key in the app is no longer valid. Nothing is sent until the next launch.
        case keyRefused(String)
        /// The server refuses the app's state for this reason. The state is not sent again until it changes.
        case refused(String)
        /// The keychain or the library's data on the device cannot be read yet, as before the first unlock.
        case locked(String)
        /// The installation was forgotten, as the app asked.
        case forgotten
    }

    /// The state of the uploads.
    public var phase: Phase = .idle
    /// The ID of this installation, for support.
    public var installation: UUID?
    /// The topics that are followed, even if the server does not know them yet.
    public var topics: [String] = []
    /// Whether people allow the app to show Live Activities.
    public var areActivitiesEnabled = true
    /// The activities on the device, by ID.
    public var activities: [String: DeviceActivity] = [:]
    /// Events whose activity is requested but not shown yet.
    public var waitingFor: [String] = []
    /// Why the newest state could not be written to disk. The state is lost if the app ends now. `nil`: the state was
    /// written.
    public var storageFailure: String?

    /// The status before anything is known.
    public init() {}
}

/// The result of showing an activity.
public enum ShowResult: Sendable, Hashable {
    /// The activity is on the device, with this ID.
    case shown(String)
    /// The server cannot be reached, the channel does not exist yet, or the app is not in the foreground. The library
    /// will show the activity later by itself.
    case waiting
}

/// Why something cannot be done.
public enum LiveActivitiesError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A topic has 1 to 128 characters of `A-Z a-z 0-9 . _ : -`.
    case notATopic(String)
    /// An installation follows 200 topics at most.
    case tooManyTopics
    /// A variant has 1 to 32 characters of `A-Z a-z 0-9 . _ : -`.
    case notAVariant(String)
    /// People turned Live Activities off for this app in Settings.
    case disabled
    /// A day after the request, the server still does not know this event.
    case noSuchEvent(String)
    /// The event is over.
    case eventEnded(String)
    /// The server refused the app's key.
    case keyRefused(String)
    /// The server refuses the request.
    case refused(String)
    /// The system refuses the activity.
    case impossible(String)
    /// The data on the device cannot be read yet, as before the first unlock.
    case locked(String)

    /// A sentence about the problem.
    public var description: String {
        switch self {
        case .notATopic(let text):
            "\(text) is not a valid topic: 1 to 128 characters of A-Z a-z 0-9 . _ : - are allowed."
        case .notAVariant(let text):
            "\(text) is not a valid variant: 1 to 32 characters of A-Z a-z 0-9 . _ : - are allowed."
        case .tooManyTopics: "An installation follows \(InstallationFacts.maxTopics) topics at most."
        case .disabled: "Live Activities are switched off for this app in Settings."
        case .noSuchEvent(let key):
            "The server does not know an event \(key) of this app, a day after it was requested."
        case .eventEnded(let key): "The event \(key) is over."
        case .keyRefused(let detail): "The server refused the app's key: \(detail)"
        case .refused(let detail): "The server refused the request: \(detail)"
        case .impossible(let detail): "The system does not show the activity: \(detail)"
        case .locked(let detail): "The data on this device cannot be read yet: \(detail)"
        }
    }
}

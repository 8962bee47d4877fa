package import Foundation
package import GrandstandClient

/// Decides what an installation says next, and what an answer makes of its record. Pure: time comes in, requests go out.
///
/// One request is under way at a time. What it remembers beside the record is of one launch: a key that was refused, what
/// was refused for good, how long to wait.
package struct Courier: Sendable {
    /// What to do now.
    package enum Step: Sendable, Hashable {
        case send(DeviceRequest)
        case wait(until: TimeInterval)
        /// Nothing to say, or nobody to say it to.
        case idle
    }

    /// What else follows from an answer.
    package enum Consequence: Sendable, Hashable {
        case none
        /// The secret is not the installation's: it needs a new name and a new secret.
        case renewIdentity
        /// The server has forgotten it.
        case forgotten
    }

    package private(set) var backoff = Backoff()
    /// When to register again although nothing changed; `nil`: not in this launch, as far as is known.
    private var repeatAt: TimeInterval?
    /// The key was refused: nothing is sent until the next launch, which may bring another key.
    package private(set) var keyRefusal: ServerProblem?
    /// What the server refused for good, and why: it is not asked the same twice.
    private var rejections: [Subject: Rejection] = [:]
    /// Why the last attempt came to nothing.
    package private(set) var trouble: String?

    private enum Subject: Hashable, Sendable {
        case facts
        case activity(String)
        case leaving
    }

    private struct Rejection: Sendable {
        var version: Int
        var refusal: ServerProblem
    }

    package init() {}

    /// The server accepts so many receipts at once.
    package static let receiptsAtOnce = 100

    /// What was refused for good in this launch.
    package var rejection: ServerProblem? { rejections.values.first?.refusal }

    package func next(_ record: DeviceRecord, at now: TimeInterval) -> Step {
        guard keyRefusal == nil, let request = due(record, at: now) else { return .idle }
        return backoff.notBefore > now ? .wait(until: backoff.notBefore) : .send(request)
    }

    /// When there is something to say again although nothing changes.
    package func repetition(of record: DeviceRecord) -> TimeInterval? {
        let isPossible = keyRefusal == nil && !record.isGone && rejections[.facts]?.version != record.sequence
        return isPossible && !record.isLeaving && record.facts.systemVersion != nil ? repeatAt : nil
    }

    private func due(_ record: DeviceRecord, at now: TimeInterval) -> DeviceRequest? {
        guard !record.isGone else { return nil }
        if record.isLeaving { return rejections[.leaving] == nil ? .forget : nil }
        guard record.facts.systemVersion != nil else { return nil }
        // Without a registration the server takes nothing else.
        let isRefused = rejections[.facts]?.version == record.sequence
        if record.isBehind || !isRefused && repeatAt.map({ $0 <= now }) ?? false {
            return isRefused ? nil : .register(sequence: record.sequence, facts: record.facts)
        }
        let reports = record.activities.filter { id, entry in
            entry.isDue && rejections[.activity(id)]?.version != entry.version
        }
        if let (id, entry) = reports.min(by: { $0.key < $1.key }) { return .report(id: id, entry: entry) }
        return record.shown.isEmpty ? nil : .receipts(Array(record.shown.prefix(Self.receiptsAtOnce)))
    }

    /// The app was launched, came to the front, or the network came back.
    ///
    /// - Parameter delay: after which it registers although nothing changed (`Repetition`); `nil`: it need not.
    package mutating func hurry(at now: TimeInterval, repeatAfter delay: TimeInterval? = nil) {
        backoff.hurry()
        repeatAt = delay.map { now + $0 }
    }

    /// Waits before it says anything, as when the record cannot be kept.
    package mutating func pause(_ why: String, at now: TimeInterval, jitter: Double) {
        trouble = why
        backoff.fail(at: now, jitter: jitter)
    }

    /// Writes down that a request is about to be made.
    package func depart(_ request: DeviceRequest, _ record: inout DeviceRecord) {
        if case .register = request { record.unanswered += 1 }
    }

    /// Writes down what came of a request.
    ///
    /// - Parameter jitter: from 0 up to 1.
    package mutating func settle(
        _ request: DeviceRequest, _ outcome: DeviceOutcome, _ record: inout DeviceRecord, at now: TimeInterval,
        jitter: Double
    ) -> Consequence {
        switch outcome {
        case .accepted(let isNew, let isSampled):
            backoff.succeed()
            trouble = nil
            if let isSampled { record.isSampled = isSampled }
            return accept(request, isNew: isNew, &record)
        case .unanswered(let why):
            if case .report(let id, _) = request { record.activities[id]?.isInDoubt = true }
            pause(why, at: now, jitter: jitter)
            return .none
        case .refused(let refusal):
            return refuse(request, refusal, &record, at: now, jitter: jitter)
        }
    }

    private mutating func accept(
        _ request: DeviceRequest, isNew: Bool, _ record: inout DeviceRecord
    ) -> Consequence {
        switch request {
        case .register(let sequence, _):
            repeatAt = nil
            // It was forgotten there, or is new, or an earlier request whose answer was lost made it new: the activities are
            // to be told again.
            if isNew || record.unanswered > 1 { record.startAnew() }
            record.unanswered = 0
            // Another process of the app may have said more meanwhile.
            record.confirmed = max(record.confirmed ?? sequence, sequence)
            rejections[.facts] = nil
        case .report(let id, let entry):
            record.activities[id]?.confirmed = entry.version
            rejections[.activity(id)] = nil
            record.drop(id)
        case .receipts(let some):
            record.dropShown(some.count)
        case .forget:
            if record.isLeaving { return .forgotten }
            // People came back while they were being forgotten.
            record.startAnew()
        }
        return .none
    }

    private mutating func refuse(
        _ request: DeviceRequest, _ refusal: ServerProblem, _ record: inout DeviceRecord, at now: TimeInterval,
        jitter: Double
    ) -> Consequence {
        trouble = "\(refusal)"
        // A proxy may say 502 or 504 of what was carried out.
        if case .register = request, !refusal.isPassing || refusal.status == 429 {
            record.unanswered = max(0, record.unanswered - 1)
        }
        if refusal.isOfKey {
            keyRefusal = refusal
            return .none
        }
        if refusal.isPassing {
            if case .report(let id, _) = request { record.activities[id]?.isInDoubt = true }
            backoff.fail(at: now, retryAfter: refusal.retryAfter, jitter: jitter)
            return .none
        }
        switch refusal.kind {
        case .staleInstallation:
            // The keychain or the server remembers more than the record, as after a reinstallation: go on from there.
            record.sequence = max(record.sequence, refusal.sequence ?? 0) + 1
            record.confirmed = nil
        case .installationNotFound:
            record.startAnew()
            backoff.fail(at: now, jitter: jitter)
        case .wrongInstallationSecret:
            backoff.fail(at: now, jitter: jitter)
            return .renewIdentity
        default:
            reject(request, refusal, &record)
        }
        return .none
    }

    /// The same would be refused again: it is left alone until it changes, or the app is launched again.
    private mutating func reject(_ request: DeviceRequest, _ refusal: ServerProblem, _ record: inout DeviceRecord) {
        switch request {
        case .register(let sequence, _): rejections[.facts] = Rejection(version: sequence, refusal: refusal)
        case .report(let id, let entry):
            rejections[.activity(id)] = Rejection(version: entry.version, refusal: refusal)
        case .receipts(let some): record.dropShown(some.count)
        case .forget: rejections[.leaving] = Rejection(version: 0, refusal: refusal)
        }
    }
}

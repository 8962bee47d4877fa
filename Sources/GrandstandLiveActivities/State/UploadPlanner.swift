package import Foundation
package import GrandstandClient

/// Decides what an installation uploads next, and how an answer changes its record. The planner is pure: it gets the
/// time as an argument, and returns requests.
///
/// Only one request is in progress at a time. The values stored here, and not in the record, are valid for one launch:
/// a refused key, permanent refusals, and the backoff.
package struct UploadPlanner: Sendable {
    /// The next step.
    package enum Step: Sendable, Hashable {
        case send(DeviceRequest)
        case wait(until: TimeInterval)
        /// There is nothing to send, or sending is impossible.
        case idle
    }

    /// What the caller must do after an answer.
    package enum Consequence: Sendable, Hashable {
        /// The secret does not belong to the installation, which needs a new ID and a new secret.
        case renewIdentity
        /// The server has forgotten the installation.
        case forgotten
    }

    package private(set) var backoff = Backoff()
    /// When to register again without a change; `nil`: no time is set.
    private var renewAt: TimeInterval?
    /// Why the key was refused. After such a refusal, nothing is sent until the next launch, when the app may have
    /// another key.
    package private(set) var keyRefusal: ServerProblem?
    /// The permanent refusals, by the name of the request's subject. A version that was refused permanently is not sent
    /// again.
    private var rejections: [String: (version: Int, problem: ServerProblem)] = [:]
    /// Why the last attempt failed.
    package private(set) var lastError: String?

    package init() {}

    /// A permanent refusal since this launch; `nil`: there is none.
    package var rejection: ServerProblem? { rejections.values.first?.problem }

    package func next(_ record: DeviceRecord, at now: TimeInterval) -> Step {
        guard keyRefusal == nil, let request = due(record, at: now) else { return .idle }
        return backoff.notBefore > now ? .wait(until: backoff.notBefore) : .send(request)
    }

    /// When a registration without a change is due; `nil`: no such registration is due.
    package func renewTime(of record: DeviceRecord) -> TimeInterval? {
        keyRefusal == nil && !record.isLeaving && registration(of: record) != nil ? renewAt : nil
    }

    /// The request to register; `nil`: the system was not read yet, the installation was forgotten, or the server
    /// refused these facts.
    private func registration(of record: DeviceRecord) -> DeviceRequest? {
        guard !record.isGone, !record.facts.systemVersion.isEmpty else { return nil }
        var facts = record.facts
        facts.sequence = record.sequence
        return unlessRejected(.register(facts))
    }

    private func unlessRejected(_ request: DeviceRequest) -> DeviceRequest? {
        rejections[request.subject.name]?.version == request.subject.version ? nil : request
    }

    private func due(_ record: DeviceRecord, at now: TimeInterval) -> DeviceRequest? {
        guard !record.isGone else { return nil }
        if record.isLeaving { return unlessRejected(.forget) }
        let registration = registration(of: record)
        // Without a registration, the server accepts no other request.
        if record.hasNewFacts { return registration }
        if let registration, record.unanswered > 0 || renewAt ?? .infinity <= now { return registration }
        return record.activities.values.filter { $0.mustSend && unlessRejected(.report($0)) != nil }
            .min { $0.id < $1.id }.map(DeviceRequest.report)
    }

    /// Ends the wait between attempts, unless the server asked for the wait. Call this method when the app is launched,
    /// comes to the foreground, or the network is back.
    ///
    /// - Parameter delay: seconds after which the installation registers again without a change (`Reregistration`);
    ///   `nil`: the installation does not register again without a change.
    package mutating func hurry(at now: TimeInterval, repeatAfter delay: TimeInterval? = nil) {
        backoff.hurry()
        renewAt = delay.map { now + $0 }
    }

    /// Pauses all requests, for example because the record is not accessible.
    package mutating func pause(_ why: String, at now: TimeInterval, jitter: Double) {
        lastError = why
        backoff.fail(at: now, jitter: jitter)
    }

    /// Records that a request is about to be made.
    package func willSend(_ request: DeviceRequest, _ record: inout DeviceRecord) {
        if case .register = request { record.unanswered += 1 }
    }

    /// Records the outcome of a request.
    ///
    /// - Parameters:
    ///   - outcome: what `DeviceAPI.perform` returned or threw.
    ///   - jitter: a random number from 0 up to 1.
    package mutating func settle(
        _ request: DeviceRequest, _ outcome: Result<Bool, any Error>, _ record: inout DeviceRecord,
        at now: TimeInterval, jitter: Double
    ) -> Consequence? {
        switch outcome {
        case .success(let isNew):
            backoff.succeed()
            lastError = nil
            return onSuccess(request, isNew: isNew, &record)
        case .failure(let refusal as ServerProblem):
            return onRefusal(request, refusal, &record, at: now, jitter: jitter)
        case .failure(let error):
            markDoubt(request, &record)
            pause("\(error)", at: now, jitter: jitter)
            return nil
        }
    }

    private mutating func onSuccess(
        _ request: DeviceRequest, isNew: Bool, _ record: inout DeviceRecord
    ) -> Consequence? {
        rejections[request.subject.name] = nil
        switch request {
        case .register(let facts):
            renewAt = nil
            // The server forgot the installation, the installation is new, or an earlier request without an answer
            // created it. In all cases, the server does not know the activities, so they are reported again.
            if isNew || record.unanswered > 1 { record.resetConfirmed() }
            record.unanswered = 0
            // Another process of the app may have uploaded newer facts in the meantime.
            record.confirmed = [record.confirmed, facts.sequence].compactMap(\.self).max()
        case .report(let activity):
            record.activities[activity.id]?.confirmed = activity.version
            record.dropSettled(activity.id)
        case .forget:
            if record.isLeaving { return .forgotten }
            // People followed or showed something while the installation was being forgotten.
            record.resetConfirmed()
        }
        return nil
    }

    private mutating func onRefusal(
        _ request: DeviceRequest, _ refusal: ServerProblem, _ record: inout DeviceRecord, at now: TimeInterval,
        jitter: Double
    ) -> Consequence? {
        lastError = "\(refusal)"
        // A permanent refusal or a 429 proves that the server did not process the request. Any other refusal counts as
        // no answer, because a proxy may answer 502 or 504 although the server processed the request.
        if case .register = request, !refusal.isTemporary || refusal.status == 429 {
            record.unanswered = max(0, record.unanswered - 1)
        }
        if refusal.refusesKey {
            keyRefusal = refusal
            return nil
        }
        if refusal.isTemporary {
            markDoubt(request, &record)
            backoff.fail(at: now, retryAfter: refusal.retryAfter, jitter: jitter)
            return nil
        }
        switch refusal.kind {
        case .staleInstallation:
            // The server has a newer sequence than the record, for example after a reinstallation. Continue from the
            // server's sequence.
            record.sequence = max(record.sequence, refusal.sequence ?? 0) + 1
            record.confirmed = nil
        case .installationNotFound:
            record.resetConfirmed()
            backoff.fail(at: now, jitter: jitter)
        case .wrongInstallationSecret:
            backoff.fail(at: now, jitter: jitter)
            return .renewIdentity
        default:
            // The server would refuse the same request again, so the request is not sent until it changes, or the app
            // is launched again.
            rejections[request.subject.name] = (request.subject.version, refusal)
        }
        return nil
    }

    /// The request may have reached the server, or may still reach it.
    private func markDoubt(_ request: DeviceRequest, _ record: inout DeviceRecord) {
        if case .report(let activity) = request { record.activities[activity.id]?.isInDoubt = true }
    }
}

/// A request of an installation about itself.
package enum DeviceRequest: Sendable, Hashable {
    /// Uploads all facts.
    case register(InstallationFacts)
    /// Reports the state that an activity had at one `DeviceActivity.version`.
    case report(DeviceActivity)
    /// Asks the server to forget the installation.
    case forget

    /// What the request is about, and the version of it.
    var subject: (name: String, version: Int) {
        switch self {
        case .register(let facts): ("facts", facts.sequence ?? 0)
        case .report(let activity): ("activity \(activity.id)", activity.version)
        case .forget: ("leaving", 0)
        }
    }
}

extension ServerProblem {
    /// Whether the same request may succeed later. An answer without a slug comes from a proxy or a captive portal, and
    /// not from Grandstand.
    var isTemporary: Bool { slug.isEmpty || status == 408 || status == 429 || status >= 500 }
    /// Whether the app's key is not valid, so that no request with it can succeed.
    var refusesKey: Bool {
        !slug.isEmpty && (status == 401 || status == 403 && kind != .wrongInstallationSecret)
    }
}

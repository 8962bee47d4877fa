package import FoundationEssentials

/// Quirks as they are kept, shared by all replicas, and the right to examine one: only one caller at a time tries both
/// ways, so that Apple sees as few wrong calls as can be.
package protocol QuirkStore: Sendable {
    /// The conclusions for the app, documented behaviour included.
    func quirks(of bundleID: BundleID) async throws -> [Quirk]

    /// Begins an examination, unless one is under way or was concluded after `since`.
    func beginExamination(
        of name: Quirk.Name, for app: AppEnvironment, concludedSince since: Date, now: Date, leasedUntil: Date
    ) async throws -> ExaminationStart

    /// Keeps a conclusion, replacing an older one, and ends the examination.
    func conclude(_ quirk: Quirk, for app: AppEnvironment, by actor: AuditActor) async throws

    /// Takes down what an answer of Apple's says of the app's Broadcast capability (`broadcast-feature`), where that is
    /// news; a value set by an admin stays.
    ///
    /// A refusal of a broadcast is believed over lists and readings for five minutes; over broadcasts no refusal is.
    ///
    /// - Parameters:
    ///   - isOn: the call was accepted; `false`: refused because the capability is off.
    ///   - evidence: what was seen, in words.
    ///   - isBroadcast: the call was a broadcast, not a look at channels.
    ///   - calledAt: when it was made: it says nothing of what was seen later.
    func noteCapability(
        isOn: Bool, for app: AppEnvironment, evidence: String, isBroadcast: Bool, calledAt: Date, now: Date
    ) async throws

    /// Ends an examination that showed nothing.
    func abandonExamination(of name: Quirk.Name, for app: AppEnvironment) async throws
}

/// The outcome of asking for an examination.
package enum ExaminationStart: Sendable, Hashable {
    /// It is the caller's: conclude or abandon it.
    case begun
    /// Another caller's examination goes on.
    case underWay
    /// It has been concluded: this is the value.
    case concluded(String)
}

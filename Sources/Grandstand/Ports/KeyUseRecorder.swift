package import FoundationEssentials

/// Notes which keys are in use; cheap, for every request.
package protocol KeyUseRecorder: Sendable {
    func used(_ key: UUID, at now: Date)
}

package import FoundationEssentials

/// Records which keys are in use. It is cheap, because every request calls it.
package protocol KeyUseRecorder: Sendable {
    func used(_ key: UUID, at now: Date)
}

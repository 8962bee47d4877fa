package import FoundationEssentials

/// The content types of apps as they are kept. Bundle IDs are found without regard to case.
package protocol ContentStore: Sendable {
    /// Declares a content type or replaces it.
    ///
    /// - Returns: it, whether it was created, and the live events whose newest content it would refuse.
    /// - Throws: `version-mismatch`.
    func put(
        _ type: ContentType, by actor: AuditActor, if condition: WriteCondition, now: Date
    ) async throws -> (type: DeclaredContentType, created: Bool, mismatches: [ContentMismatch])

    func contentType(_ name: String, of bundleID: BundleID) async throws -> DeclaredContentType?

    /// In the order of their names.
    func contentTypes(of bundleID: BundleID, _ page: PageRequest) async throws -> Page<DeclaredContentType>

    /// - Returns: whether there was one.
    /// - Throws: `version-mismatch`.
    func delete(
        _ name: String, of bundleID: BundleID, by actor: AuditActor, if condition: WriteCondition, now: Date
    ) async throws -> Bool
}

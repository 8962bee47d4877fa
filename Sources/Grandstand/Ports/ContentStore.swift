package import FoundationEssentials

/// Stores the content types of apps. Upper and lower case of bundle IDs are the same.
package protocol ContentStore: Sendable {
    /// Declares a content type or replaces it.
    ///
    /// - Returns: the type, whether it was created, and the live events whose newest content it would refuse.
    /// - Throws: `version-mismatch`.
    func put(
        _ type: ContentType, by actor: AuditActor, if condition: WriteCondition, now: Date
    ) async throws -> (type: DeclaredContentType, created: Bool, mismatches: [ContentMismatch])

    func contentType(_ name: String, of bundleID: BundleID) async throws -> DeclaredContentType?

    /// The types, ordered by name.
    func contentTypes(of bundleID: BundleID, _ page: PageRequest) async throws -> Page<DeclaredContentType>

    /// - Returns: whether the type existed.
    /// - Throws: `version-mismatch`.
    func delete(
        _ name: String, of bundleID: BundleID, by actor: AuditActor, if condition: WriteCondition, now: Date
    ) async throws -> Bool
}

package import FoundationEssentials
package import Grandstand

/// Content types, as `ContentStore` has them for routes.
package struct FakeContents: ContentStore {
    package typealias Written = (type: DeclaredContentType, created: Bool, mismatches: [ContentMismatch])

    package var write: @Sendable (ContentType, WriteCondition) throws -> Written = { _, _ in throw Unasked() }
    package var find: @Sendable (String, BundleID) throws -> DeclaredContentType? = { _, _ in throw Unasked() }
    package var list: @Sendable (BundleID, PageRequest) throws -> Page<DeclaredContentType> = { _, _ in throw Unasked()
    }
    package var remove: @Sendable (String, BundleID) throws -> Bool = { _, _ in throw Unasked() }

    package init() {}

    package func put(
        _ type: ContentType, by actor: AuditActor, if condition: WriteCondition, now: Date
    ) async throws -> Written { try write(type, condition) }
    package func contentType(_ name: String, of bundleID: BundleID) async throws -> DeclaredContentType? {
        try find(name, bundleID)
    }
    package func contentTypes(of bundleID: BundleID, _ page: PageRequest) async throws -> Page<DeclaredContentType> {
        try list(bundleID, page)
    }
    package func delete(
        _ name: String, of bundleID: BundleID, by actor: AuditActor, if condition: WriteCondition, now: Date
    ) async throws -> Bool { try remove(name, bundleID) }
}

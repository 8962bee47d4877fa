package import Grandstand

/// The audit log, as `AuditLog` has it.
package struct FakeAuditLog: AuditLog {
    package var list: @Sendable (AuditFilter, PageRequest) throws -> Page<AuditEntry> = { _, _ in throw Unasked() }

    package init() {}

    package func entries(where filter: AuditFilter, _ page: PageRequest) async throws -> Page<AuditEntry> {
        try list(filter, page)
    }
}

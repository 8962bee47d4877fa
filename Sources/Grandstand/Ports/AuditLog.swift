/// Reads the audit log. Entries are written by the stores, in the transaction of the change.
package protocol AuditLog: Sendable {
    /// The newest first.
    func entries(where filter: AuditFilter, _ page: PageRequest) async throws -> Page<AuditEntry>
}

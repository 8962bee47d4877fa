/// Reads the audit log. Entries are written by the stores, in the transaction of what they tell of.
package protocol AuditLog: Sendable {
    /// The newest first.
    func entries(where filter: AuditFilter, _ page: PageRequest) async throws -> Page<AuditEntry>
}

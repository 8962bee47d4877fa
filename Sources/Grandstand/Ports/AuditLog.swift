/// Reads the audit log. The stores write its entries, in the transaction of the change.
package protocol AuditLog: Sendable {
    /// The newest first.
    func entries(where filter: AuditFilter, _ page: PageRequest) async throws -> Page<AuditEntry>
}
